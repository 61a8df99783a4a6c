/** The names that DataHub's clients know relationships of lineage by, for each list that states edges. */
import { lineageFieldByCode } from './lineage-fields.ts'

const names: ReadonlyMap<string, string> = new Map([
  ['upstreamLineage', 'DownstreamOf'],
  ['inputFields', 'DownstreamOf'],
  ['dataJobInputOutput', 'DownstreamOf'],
  ['dataJobInputOutput.inputDatasets', 'Consumes'],
  ['dataJobInputOutput.inputDatasetEdges', 'Consumes'],
  ['dataJobInputOutput.outputDatasets', 'Produces'],
  ['dataJobInputOutput.outputDatasetEdges', 'Produces'],
  ['chartInfo', 'Consumes'],
  ['dashboardInfo', 'Consumes'],
  ['dashboardInfo.charts', 'Contains'],
  ['dashboardInfo.chartEdges', 'Contains'],
  ['dashboardInfo.dashboards', 'DashboardContainsDashboard'],
  ['mlPrimaryKeyProperties', 'DerivedFrom'],
  ['mlFeatureProperties', 'DerivedFrom'],
  ['mlModelProperties.mlFeatures', 'Consumes'],
  ['mlModelProperties.groups', 'MemberOf'],
  ['mlModelProperties.trainingJobs', 'TrainedBy'],
  ['mlModelProperties.downstreamJobs', 'UsedBy'],
  ['mlModelGroupProperties.trainingJobs', 'TrainedBy'],
  ['mlModelGroupProperties.downstreamJobs', 'UsedBy'],
  ['dataProcessInstanceInput', 'DataProcessInstanceConsumes'],
  ['dataProcessInstanceOutput', 'DataProcessInstanceProduces']
])

/** The relationship that a stored field code states. Throws on a code that this version does not know. */
export function relationshipOf(fieldCode: number): string {
  const { aspectName, listName } = lineageFieldByCode(fieldCode)
  const name = names.get(`${aspectName}.${listName}`) ?? names.get(aspectName)
  if (name === undefined) throw new Error(`${aspectName}.${listName} has no relationship`)
  return name
}
