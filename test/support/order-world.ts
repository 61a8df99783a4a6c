/** The entities of one variant of an order test, and their aspects with lineage. */
import { lineageFieldsOf, type LineageField } from '../../shared/model/lineage-fields.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import { chart, column, dashboard, dataset, feature, job, model } from './changes.ts'
import { fc } from './fast-check.ts'

/** All of them exist. The columns are x and y of the first dataset, then of the second. */
export type World = {
  name: string
  datasets: Urn[]
  jobs: Urn[]
  charts: Urn[]
  dashboards: Urn[]
  features: Urn[]
  model: Urn
  group: Urn
  deployment: Urn
  columns: Urn[]
  assets: Urn[]
}

export function worldOf(name: string): World {
  const two = (make: (name: string) => Urn): Urn[] => [make(`${name}.0`), make(`${name}.1`)]
  const datasets = [0, 1, 2, 3].map((number) => dataset(`${name}.${number}`))
  const [first = dataset(name), second = dataset(name)] = datasets
  const [jobs, charts, dashboards, features] = [two(job), two(chart), two(dashboard), two(feature)]
  const group = toUrn(`urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,${name},PROD)`)
  const deployment = toUrn(`urn:li:mlModelDeployment:(urn:li:dataPlatform:sagemaker,${name},PROD)`)
  return {
    name,
    datasets,
    jobs,
    charts,
    dashboards,
    features,
    model: model(name),
    group,
    deployment,
    columns: [column(first, 'x'), column(first, 'y'), column(second, 'x'), column(second, 'y')],
    assets: [...datasets, ...jobs, ...charts, ...dashboards, ...features, model(name), group, deployment]
  }
}

/**
 * A list of an aspect (`upstreamLineage.upstreams`), and the edge as `downstream upstream`. `owner` has the
 * aspect.
 */
export type EdgeStep =
  /**
   * `group` is the operation and query of a column record, absent if there are none. A record with several
   * downstreams has no group that a path can name.
   */
  | { kind: 'add'; owner: Urn; list: string; edge: string; group?: string; source?: string }
  /** From the whole aspect, or from one list and group of it. */
  | { kind: 'remove'; owner: Urn; aspect: string; edge: string; list?: string; group?: string }
  /** Removes what the aspect, a list of it, one downstream of it, or one source of it asserts. */
  | { kind: 'clear'; owner: Urn; aspect: string; list?: string; downstream?: Urn; source?: string }

/** The group of column records without operation and query. */
export const plainGroup = 'NONE NONE'

export const at = <T>(list: readonly T[], number: number): T => {
  const found = list[number % list.length]
  if (found === undefined) throw new Error('an empty list')
  return found
}
export const edgeOf = (downstream: Urn, upstream: Urn): string => `${downstream} ${upstream}`
export const index = fc.nat({ max: 3 })

/** An aspect that states lineage, of which entity. */
export type Target = {
  aspect: string
  owner: keyof Pick<World, 'datasets' | 'jobs' | 'charts' | 'dashboards' | 'features' | 'model'>
  number: number
}

export const ownerOf = ({ owner, number }: Target, world: World): Urn => {
  const entities = world[owner]
  return typeof entities === 'string' ? entities : at(entities, number)
}

export const lineageTargets: readonly Target[] = [
  { aspect: 'upstreamLineage', owner: 'datasets', number: 0 },
  { aspect: 'upstreamLineage', owner: 'datasets', number: 1 },
  { aspect: 'dataJobInputOutput', owner: 'jobs', number: 0 },
  { aspect: 'dataJobInputOutput', owner: 'jobs', number: 1 },
  { aspect: 'chartInfo', owner: 'charts', number: 0 },
  { aspect: 'inputFields', owner: 'charts', number: 0 },
  { aspect: 'dashboardInfo', owner: 'dashboards', number: 0 },
  { aspect: 'mlModelProperties', owner: 'model', number: 0 },
  { aspect: 'mlFeatureProperties', owner: 'features', number: 0 }
]

/** Most steps use the first dataset and the first job, so that they collide. */
export const target = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...lineageTargets.slice(0, 3)) },
  { weight: 4, arbitrary: fc.constantFrom(...lineageTargets.slice(3)) }
)

/** What an entry of a list may refer to. */
export function othersOf({ entryTypes }: LineageField, world: World): Urn[] {
  const byType: { [entityType: string]: readonly Urn[] } = {
    dataset: world.datasets,
    dataJob: world.jobs,
    chart: world.charts,
    dashboard: world.dashboards,
    mlFeature: world.features,
    mlModelGroup: [world.group],
    mlModelDeployment: [world.deployment],
    schemaField: world.columns
  }
  return entryTypes.flatMap((entityType) => byType[entityType] ?? [])
}

/** The lists of single edges, without those of columns. */
export const simpleFieldsOf = (aspect: string): LineageField[] =>
  lineageFieldsOf(aspect).filter(({ shape }) => shape !== 'columns' && shape !== 'inputField')
export const columnFieldOf = (aspect: string): LineageField | undefined =>
  lineageFieldsOf(aspect).find(({ shape }) => shape === 'columns')

export const listOf = ({ aspectName, listName }: LineageField): string => `${aspectName}.${listName}`
export const endsOf = ({ entryIs }: LineageField, owner: Urn, other: Urn): string =>
  entryIs === 'upstream' ? edgeOf(owner, other) : edgeOf(other, owner)
