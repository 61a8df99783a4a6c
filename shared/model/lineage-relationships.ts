/**
 * The references of DataHub's model, with the lineage that the model describes only in words: the data that a
 * model was trained on, where it is deployed, and the agents that use it.
 *
 * Data that a model was evaluated on is not lineage: nothing in the model comes from it.
 */
import { dataHubRelationships, type DataHubRelationship } from './datahub-model.ts'

/** References that are lineage here, by which end of the edge the URN is. */
const directions: ReadonlyMap<string, 'upstream' | 'downstream'> = new Map([
  ['mlModelProperties.deployments/*', 'downstream'],
  ['aiAgentDependencies.models/*', 'upstream']
])

/** References that the model does not have. */
const more: readonly DataHubRelationship[] = [
  {
    aspectName: 'mlModelTrainingData',
    path: 'trainingData/*/dataset',
    removedPath: 'trainingData/*',
    name: 'TrainedOn',
    entityTypes: ['dataset'],
    lineage: 'upstream'
  }
]

export const knownRelationships: readonly DataHubRelationship[] = [
  ...dataHubRelationships.map((each) => ({
    ...each,
    lineage: each.lineage ?? directions.get(`${each.aspectName}.${each.path}`) ?? null
  })),
  ...more
]
