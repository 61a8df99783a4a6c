/** Random records of changes to a small catalog, for tests that say "in whatever order": what they do is plain to see. */
import type { Change, JsonObject } from '../../shared/model/changes.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import { addEdge, chart, column, dataset, deleteAspect, domain, hardDelete, job, patch, removeEdge, segment, setDomain, unsetDomain, upsert, upstream } from './changes.ts'
import { fc } from './fast-check.ts'

/** The entities of one variant of a test: all of them exist. */
export type World = { datasets: Urn[], job: Urn, chart: Urn, columns: Urn[], assets: Urn[] }

export function worldOf(name: string): World {
  const datasets = [0, 1, 2, 3].map((index) => dataset(`${name}.${index}`))
  const [first = dataset(name), second = dataset(name)] = datasets
  return {
    datasets,
    job: job(name),
    chart: chart(name),
    columns: [column(first, 'x'), column(first, 'y'), column(second, 'x'), column(second, 'y')],
    assets: [...datasets, job(name), chart(name)]
  }
}

export const domains = ['d0', 'd1'].map(domain)

/** What a record does, by the numbers of things. `edges` is for the oracle: what it does to edges of an aspect. */
export type Step = {
  name: string
  changes: (world: World) => Change[]
  edges: (world: World) => EdgeStep[]
}

/** A list of an aspect (`upstreamLineage.upstreams`), and the edge as `downstream upstream`. `owner` is whose aspect it is. */
export type EdgeStep =
  /** `group` is the operation of a column record, absent for none; a record with several downstreams has none that a path names. */
  | { kind: 'add', owner: Urn, list: string, edge: string, group?: string }
  /** From the whole aspect, or from one list and group of it. */
  | { kind: 'remove', owner: Urn, aspect: string, edge: string, list?: string, group?: string }
  /** Takes away what the aspect, a list of it, one downstream of it, or one source of it states. */
  | { kind: 'clear', owner: Urn, aspect: string, list?: string, downstream?: Urn, source?: string }

const at = <T>(list: readonly T[], index: number): T => {
  const found = list[index % list.length]
  if (found === undefined) throw new Error('an empty list')
  return found
}
const edgeOf = (downstream: Urn, up: Urn): string => `${downstream} ${up}`

type Pair = { list: string, owner: (world: World) => Urn, downstream: (world: World) => Urn, upstream: (world: World) => Urn }
const pairs: readonly Pair[] = [
  ...[[0, 1], [0, 2], [0, 3], [1, 0], [1, 2], [0, 0]].map(([down = 0, up = 0]): Pair =>
    ({ list: 'upstreamLineage.upstreams', owner: (world) => at(world.datasets, down), downstream: (world) => at(world.datasets, down), upstream: (world) => at(world.datasets, up) })),
  ...[0, 1].map((up): Pair => ({ list: 'dataJobInputOutput.inputDatasetEdges', owner: (world) => world.job, downstream: (world) => world.job, upstream: (world) => at(world.datasets, up) })),
  ...[0, 1].map((down): Pair => ({ list: 'dataJobInputOutput.outputDatasetEdges', owner: (world) => world.job, downstream: (world) => at(world.datasets, down), upstream: (world) => world.job })),
  ...[0, 1].map((up): Pair => ({ list: 'chartInfo.inputEdges', owner: (world) => world.chart, downstream: (world) => world.chart, upstream: (world) => at(world.datasets, up) })),
  ...[[0, 2], [0, 3], [1, 2]].map(([down = 0, up = 0]): Pair =>
    ({ list: 'upstreamLineage.fineGrainedLineages', owner: (world) => at(world.datasets, 0), downstream: (world) => at(world.columns, down), upstream: (world) => at(world.columns, up) }))
]
const pair = fc.constantFrom(...pairs)
const aspectOf = (list: string): string => list.split('.')[0] ?? ''
const index = fc.nat({ max: 3 })
const upstreamType = fc.constantFrom('COPY', 'TRANSFORMED', 'VIEW')

const step = (name: string, changes: Step['changes'], edges: Step['edges'] = () => []): Step => ({ name, changes, edges })
const added = (world: World, { list, owner, downstream, upstream: up }: Pair): EdgeStep => ({ kind: 'add', owner: owner(world), list, edge: edgeOf(downstream(world), up(world)) })

const byEnds = fc.oneof(
  pair.map((chosen) => step('addEdge', (world) => [addEdge(chosen.upstream(world), chosen.downstream(world))], (world) => [added(world, chosen)])),
  pair.map((chosen) => step('removeEdge', (world) => [removeEdge(chosen.upstream(world), chosen.downstream(world))], (world) =>
    [{ kind: 'remove', owner: chosen.owner(world), aspect: aspectOf(chosen.list), edge: edgeOf(chosen.downstream(world), chosen.upstream(world)) }]))
)

const columnsRecord = fc.record({ down: fc.subarray([0, 1], { minLength: 1 }), up: fc.subarray([2, 3]), isNamed: fc.boolean() })
const listed = (owner: Urn, list: string, edges: string[]): EdgeStep[] => edges.map((edge) => ({ kind: 'add', owner, list, edge }))

const upstreamLineage = fc.record({ down: fc.constantFrom(0, 1), ups: fc.array(fc.tuple(index, upstreamType), { maxLength: 4 }), records: fc.option(fc.array(columnsRecord, { maxLength: 2 })) })
  .map(({ down, ups, records }) => step('UPSERT upstreamLineage', (world) => [upsert(at(world.datasets, down), 'upstreamLineage', {
    upstreams: ups.map(([up, type]) => upstream(at(world.datasets, up), { type })),
    ...records && down === 0 ? { fineGrainedLineages: records.map((record) => ({
      upstreamType: 'FIELD_SET', downstreamType: 'FIELD', confidenceScore: 1, upstreams: record.up.map((up) => at(world.columns, up)), downstreams: record.down.map((each) => at(world.columns, each)),
      ...record.isNamed ? { transformOperation: 'OP' } : {} })) } : {}
  })], (world) => {
    const owner = at(world.datasets, down)
    const columnEdges = (down === 0 ? records ?? [] : []).flatMap((record) => record.down.flatMap((each) => record.up.map((up): EdgeStep => ({
      kind: 'add', owner, list: 'upstreamLineage.fineGrainedLineages', edge: edgeOf(at(world.columns, each), at(world.columns, up)), group: record.down.length > 1 ? 'several' : record.isNamed ? 'OP' : 'NONE'
    }))))
    return [
      { kind: 'clear', owner, aspect: 'upstreamLineage' },
      ...listed(owner, 'upstreamLineage.upstreams', ups.map(([up]) => edgeOf(owner, at(world.datasets, up)))),
      ...columnEdges
    ]
  }))

const jobLists = fc.record({ legacy: fc.array(index, { maxLength: 2 }), edges: fc.option(fc.array(index, { maxLength: 2 })), out: fc.array(index, { maxLength: 2 }) })
  .map(({ legacy, edges, out }) => step('UPSERT dataJobInputOutput', (world) => [upsert(world.job, 'dataJobInputOutput', {
    inputDatasets: legacy.map((each) => at(world.datasets, each)), outputDatasets: out.map((each) => at(world.datasets, each)),
    ...edges ? { inputDatasetEdges: edges.map((each) => ({ destinationUrn: at(world.datasets, each), properties: { p: 'q' } })) } : {}
  })], (world) => [
    { kind: 'clear', owner: world.job, aspect: 'dataJobInputOutput' },
    ...listed(world.job, 'dataJobInputOutput.inputDatasets', legacy.map((each) => edgeOf(world.job, at(world.datasets, each)))),
    ...listed(world.job, 'dataJobInputOutput.inputDatasetEdges', (edges ?? []).map((each) => edgeOf(world.job, at(world.datasets, each)))),
    ...listed(world.job, 'dataJobInputOutput.outputDatasets', out.map((each) => edgeOf(at(world.datasets, each), world.job)))
  ]))

const chartInputs = fc.record({ title: fc.constantFrom('s', 't'), inputs: fc.option(fc.array(index, { maxLength: 2 })) })
  .map(({ title, inputs }) => step('UPSERT chartInfo', (world) => [upsert(world.chart, 'chartInfo', { title, description: '', ...inputs ? { inputs: inputs.map((each) => ({ string: at(world.datasets, each) })) } : {} })], (world) => [
    { kind: 'clear', owner: world.chart, aspect: 'chartInfo' },
    ...listed(world.chart, 'chartInfo.inputs', (inputs ?? []).map((each) => edgeOf(world.chart, at(world.datasets, each))))
  ]))

const replaced = fc.record({ down: fc.constantFrom(0, 1), ups: fc.uniqueArray(index, { maxLength: 3 }), source: fc.option(fc.constantFrom('s0', 's1')) })
  .map(({ down, ups, source }) => step(`replaceEdges ${source ?? 'all'}`, (world) => [{
    kind: 'replaceEdges', ownerUrn: at(world.datasets, down), aspectName: 'upstreamLineage', ...source === null ? {} : { source },
    edges: ups.map((up) => ({ upstreamUrn: at(world.datasets, up), downstreamUrn: at(world.datasets, down) }))
  }], (world) => {
    const owner = at(world.datasets, down)
    return [
      { kind: 'clear', owner, aspect: 'upstreamLineage', ...source === null ? {} : { source } },
      ...ups.map((up): EdgeStep => ({ kind: 'add', owner, list: 'upstreamLineage.upstreams', edge: edgeOf(owner, at(world.datasets, up)), ...source === null ? {} : { source } }))
    ]
  }))

const patchedEntry = fc.record({ down: fc.constantFrom(0, 1), up: index, type: upstreamType, what: fc.constantFrom('add', 'remove', 'type', 'property', 'list') })
  .map(({ down, up, type, what }) => {
    const path = (world: World) => `/upstreams/${segment(at(world.datasets, up))}`
    const edge = (world: World) => edgeOf(at(world.datasets, down), at(world.datasets, up))
    const owner = (world: World) => at(world.datasets, down)
    const list = 'upstreamLineage.upstreams'
    if (what === 'add') return step('PATCH add', (world) => [patch(owner(world), 'upstreamLineage', { op: 'add', path: path(world), value: upstream(at(world.datasets, up), { type }) })], (world) => [{ kind: 'add', owner: owner(world), list, edge: edge(world) }])
    if (what === 'remove') return step('PATCH remove', (world) => [patch(owner(world), 'upstreamLineage', { op: 'remove', path: path(world) })], (world) => [{ kind: 'remove', owner: owner(world), aspect: 'upstreamLineage', list, edge: edge(world) }])
    if (what === 'type') return step('PATCH type', (world) => [patch(owner(world), 'upstreamLineage', { op: 'replace', path: `${path(world)}/type`, value: type })])
    if (what === 'property') return step('PATCH property', (world) => [patch(owner(world), 'upstreamLineage', { op: 'add', path: `${path(world)}/properties/${type}`, value: type })])
    return step('PATCH list', (world) => [patch(owner(world), 'upstreamLineage', { op: 'add', path: '/upstreams', value: [upstream(at(world.datasets, up), { type })] })], (world) =>
      [{ kind: 'clear', owner: owner(world), aspect: 'upstreamLineage', list }, { kind: 'add', owner: owner(world), list, edge: edge(world) }])
  })

const patchedColumns = fc.record({ down: fc.constantFrom(0, 1), up: fc.constantFrom(2, 3), operation: fc.constantFrom('NONE', 'OP'), what: fc.constantFrom('add', 'remove', 'into', 'dataset', 'no dataset', 'list'), score: fc.constantFrom(1, 0.5) })
  .map(({ down, up, operation, what, score }) => {
    const owner = (world: World) => at(world.datasets, 0)
    const into = (world: World) => `/fineGrainedLineages/${operation}/${segment(at(world.columns, down))}`
    const edge = (world: World) => edgeOf(at(world.columns, down), at(world.columns, up))
    const list = 'upstreamLineage.fineGrainedLineages'
    const once = (name: string, operationOf: (world: World) => Parameters<typeof patch>[2], edges: Step['edges'] = () => []) => step(name, (world) => [patch(owner(world), 'upstreamLineage', operationOf(world))], edges)
    if (what === 'add') return once('PATCH add pair', (world) => ({ op: 'add', path: `${into(world)}/NONE/${segment(at(world.columns, up))}`, value: { confidenceScore: score } }), (world) => [{ kind: 'add', owner: owner(world), list, edge: edge(world), group: operation }])
    if (what === 'remove') return once('PATCH remove pair', (world) => ({ op: 'remove', path: `${into(world)}/NONE/${segment(at(world.columns, up))}` }), (world) => [{ kind: 'remove', owner: owner(world), aspect: 'upstreamLineage', list, edge: edge(world), group: operation }])
    if (what === 'into') return once('PATCH remove into', (world) => ({ op: 'remove', path: into(world) }), (world) => [{ kind: 'clear', owner: owner(world), aspect: 'upstreamLineage', list, downstream: at(world.columns, down) }])
    if (what === 'list') return once('PATCH records', (world) => ({ op: 'add', path: '/fineGrainedLineages', value: [{ upstreamType: 'FIELD_SET', downstreamType: 'FIELD', upstreams: [at(world.columns, up)], downstreams: [at(world.columns, down)] }] }), (world) =>
      [{ kind: 'clear', owner: owner(world), aspect: 'upstreamLineage', list }, { kind: 'add', owner: owner(world), list, edge: edge(world) }])
    const path = (world: World) => `${into(world)}/NONE/${segment(at(world.datasets, up))}`
    return what === 'dataset' ? once('PATCH add source', (world) => ({ op: 'add', path: path(world), value: { confidenceScore: score } })) : once('PATCH remove source', (world) => ({ op: 'remove', path: path(world) }))
  })

const properties = fc.record({ of: index, what: fc.constantFrom('put', 'patch', 'unpatch', 'merge', 'delete', 'status', 'soft delete'), key: fc.constantFrom('k', 'l'), text: fc.constantFrom('1', '2') })
  .map(({ of, what, key, text }) => step(`properties ${what}`, (world): Change[] => {
    const urn = at(world.datasets, of)
    const named: JsonObject = { name: text, customProperties: { [key]: text } }
    if (what === 'put') return [upsert(urn, 'datasetProperties', named)]
    if (what === 'patch') return [patch(urn, 'datasetProperties', { op: 'add', path: `/customProperties/${key}`, value: text })]
    if (what === 'unpatch') return [patch(urn, 'datasetProperties', { op: 'remove', path: `/customProperties/${key}` })]
    if (what === 'merge') return [{ kind: 'upsertEntity', entityUrn: urn, description: text }]
    if (what === 'delete') return [deleteAspect(urn, 'datasetProperties')]
    if (what === 'status') return [upsert(urn, 'status', { removed: false })]
    return [{ kind: 'deleteEntity', entityUrn: urn, hard: false }]
  }))

const deletedLineage = fc.constantFrom(0, 1).map((down) => step('delete upstreamLineage', (world) => [deleteAspect(at(world.datasets, down), 'upstreamLineage')], (world) =>
  [{ kind: 'clear', owner: at(world.datasets, down), aspect: 'upstreamLineage' }]))

const domainSteps = fc.record({ of: index, domain: fc.constantFrom(0, 1), what: fc.constantFrom('set', 'unset', 'put', 'delete') })
  .map(({ of, domain: which, what }) => step(`domain ${what}`, (world) => {
    const urn = at(world.assets, of)
    if (what === 'set') return [setDomain(urn, at(domains, which))]
    if (what === 'unset') return [unsetDomain(urn)]
    if (what === 'delete') return [deleteAspect(urn, 'domains')]
    return [upsert(urn, 'domains', { domains: [at(domains, which)] })]
  }))

const deletion = fc.record({ of: index, what: fc.constantFrom('delete', 'create') }).map(({ of, what }) => step(`${what} asset`, (world) => {
  const urn = at(world.assets, of)
  return what === 'delete' ? [hardDelete(urn)] : [{ kind: 'upsertEntity', entityUrn: urn, name: 'anew' }]
}))

/** One change, of whatever kind but deletions of entities. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: byEnds }, { weight: 3, arbitrary: upstreamLineage }, { weight: 1, arbitrary: jobLists }, { weight: 1, arbitrary: chartInputs }, { weight: 1, arbitrary: replaced },
  { weight: 4, arbitrary: patchedEntry }, { weight: 4, arbitrary: patchedColumns }, { weight: 2, arbitrary: properties }, { weight: 1, arbitrary: deletedLineage }, { weight: 2, arbitrary: domainSteps })

/** One change, deletions of entities included. Whether a soft deletion has something to delete is judged when it is applied. */
export const anyStepOrDeletion: fc.Arbitrary<Step> = fc.oneof({ weight: 4, arbitrary: anyStep.filter(({ name }) => name !== 'properties soft delete') }, { weight: 1, arbitrary: deletion })
