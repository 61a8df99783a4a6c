/** Random records of changes to a small catalog, with simple known effects, for tests of arbitrary order. */
import type { Change, JsonObject } from '../../shared/model/changes.ts'
import { lineageFieldByCode } from '../../shared/model/lineage-fields.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import {
  addEdge,
  deleteAspect,
  domain,
  hardDelete,
  patch,
  removeEdge,
  setDomain,
  unsetDomain,
  upsert
} from './changes.ts'
import { fc } from './fast-check.ts'
import { at, edgeOf, index, lineageTargets, ownerOf, type EdgeStep, type World } from './order-world.ts'
import { anyDocument, anyLineagePatch } from './random-lineage.ts'

/**
 * The effect of a record, by the numbers of things. `edges` is for the oracle: its effect on the edges of an
 * aspect.
 */
export type Step = {
  name: string
  changes: (world: World) => Change[]
  edges: (world: World) => EdgeStep[]
  /** Always refused, with its whole record. */
  isRefused?: boolean
}

export const domains = ['d0', 'd1'].map(domain)

const step = (name: string, changes: Step['changes'], edges: Step['edges'] = () => []): Step => ({
  name,
  changes,
  edges
})

/** Edges that are named by their ends alone, and the list that such an edge is written to. */
type Pair = {
  code: number
  owner: (world: World) => Urn
  downstream: (world: World) => Urn
  upstream: (world: World) => Urn
}
type End = (world: World) => Urn
const into = (code: number, downstream: End, ...upstreams: End[]): Pair[] =>
  upstreams.map((up) => ({ code, owner: downstream, downstream, upstream: up }))
const outOf = (code: number, upstream: End, ...downstreams: End[]): Pair[] =>
  downstreams.map((down) => ({ code, owner: upstream, downstream: down, upstream }))
const dataset =
  (number: number): End =>
  (world) =>
    at(world.datasets, number)
const job =
  (number: number): End =>
  (world) =>
    at(world.jobs, number)
const chart =
  (number: number): End =>
  (world) =>
    at(world.charts, number)
const dashboard =
  (number: number): End =>
  (world) =>
    at(world.dashboards, number)
const columnPair = ([down, up]: readonly [number, number]): Pair => ({
  code: 0x11,
  owner: dataset(0),
  downstream: (world) => at(world.columns, down),
  upstream: (world) => at(world.columns, up)
})

const mostPairs: readonly Pair[] = [
  ...into(0x10, dataset(0), dataset(1), dataset(2), dataset(3), dataset(0)),
  ...into(0x10, dataset(1), dataset(0), dataset(2)),
  ...into(0x21, job(0), dataset(0), dataset(1)),
  ...outOf(0x23, job(0), dataset(0), dataset(1)),
  ...into(0x31, chart(0), dataset(0), dataset(1)),
  ...(
    [
      [0, 2],
      [0, 3],
      [1, 2]
    ] as const
  ).map(columnPair)
]
const otherPairs: readonly Pair[] = [
  ...into(0x25, job(0), job(1), job(0)),
  ...into(0x31, chart(0), chart(1)),
  ...into(0x43, dashboard(0), dataset(0), dataset(1)),
  ...into(0x41, dashboard(0), chart(0), chart(1)),
  ...into(0x44, dashboard(0), dashboard(1)),
  ...into(0x70, (world) => at(world.features, 0), dataset(0), dataset(1)),
  ...into(
    0x80,
    (world) => world.model,
    (world) => at(world.features, 0),
    (world) => at(world.features, 1)
  ),
  ...into(0x82, (world) => world.model, job(0), job(1)),
  ...outOf(0x83, (world) => world.model, job(0), job(1)),
  ...outOf(
    0x81,
    (world) => world.model,
    (world) => world.group
  )
]
const pair = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...mostPairs) },
  { weight: 1, arbitrary: fc.constantFrom(...otherPairs) }
)

const byEnds = fc
  .record({ chosen: pair, isAdded: fc.boolean() })
  .map(({ chosen: { code, owner, downstream, upstream }, isAdded }) => {
    const { aspectName, listName } = lineageFieldByCode(code)
    const edge = (world: World) => edgeOf(downstream(world), upstream(world))
    return isAdded
      ? step(
          'addEdge',
          (world) => [addEdge(upstream(world), downstream(world))],
          (world) => [
            { kind: 'add', owner: owner(world), list: `${aspectName}.${listName}`, edge: edge(world) }
          ]
        )
      : step(
          'removeEdge',
          (world) => [removeEdge(upstream(world), downstream(world))],
          (world) => [{ kind: 'remove', owner: owner(world), aspect: aspectName, edge: edge(world) }]
        )
  })

const replaced = fc
  .record({
    down: fc.constantFrom(0, 1),
    ups: fc.uniqueArray(index, { maxLength: 3 }),
    source: fc.option(fc.constantFrom('s0', 's1'))
  })
  .map(({ down, ups, source }) =>
    step(
      `replaceEdges ${source ?? 'all'}`,
      (world) => [
        {
          kind: 'replaceEdges',
          ownerUrn: at(world.datasets, down),
          aspectName: 'upstreamLineage',
          ...(source === null ? {} : { source }),
          edges: ups.map((up) => ({
            upstreamUrn: at(world.datasets, up),
            downstreamUrn: at(world.datasets, down)
          }))
        }
      ],
      (world) => {
        const owner = at(world.datasets, down)
        return [
          { kind: 'clear', owner, aspect: 'upstreamLineage', ...(source === null ? {} : { source }) },
          ...ups.map((up): EdgeStep => ({
            kind: 'add',
            owner,
            list: 'upstreamLineage.upstreams',
            edge: edgeOf(owner, at(world.datasets, up)),
            ...(source === null ? {} : { source })
          }))
        ]
      }
    )
  )

const documents = anyDocument.map(({ target, document, edges }) =>
  step(
    `UPSERT ${target.aspect}`,
    (world) => [upsert(ownerOf(target, world), target.aspect, document(world))],
    edges
  )
)

const lineagePatches = anyLineagePatch.map(({ target, operations }): Step => ({
  name: `PATCH ${target.aspect}: ${operations.map((operation) => operation.name).join(', ')}`,
  changes: (world) => [
    patch(ownerOf(target, world), target.aspect, ...operations.map((operation) => operation.of(world)))
  ],
  edges: (world) => operations.flatMap((operation) => operation.edges(world))
}))

const properties = fc
  .record({
    of: index,
    what: fc.constantFrom(
      'put',
      'patch',
      'unpatch',
      'merge',
      'delete',
      'status',
      'soft delete',
      'whole',
      'no whole',
      'several'
    ),
    key: fc.constantFrom('k', 'l'),
    text: fc.constantFrom('1', '2')
  })
  .map(({ of, what, key, text }) =>
    step(`properties ${what}`, (world): Change[] => {
      const urn = at(world.datasets, of)
      const named: JsonObject = { name: text, customProperties: { [key]: text } }
      if (what === 'put') return [upsert(urn, 'datasetProperties', named)]
      if (what === 'patch')
        return [patch(urn, 'datasetProperties', { op: 'add', path: `/customProperties/${key}`, value: text })]
      if (what === 'unpatch')
        return [patch(urn, 'datasetProperties', { op: 'remove', path: `/customProperties/${key}` })]
      if (what === 'whole')
        return [patch(urn, 'datasetProperties', { op: 'replace', path: '', value: named })]
      if (what === 'no whole') return [patch(urn, 'datasetProperties', { op: 'remove', path: '' })]
      if (what === 'several')
        return [
          patch(
            urn,
            'datasetProperties',
            { op: 'add', path: `/tags/${text}`, value: text },
            { op: 'remove', path: `/tags/${key}` },
            { op: 'add', path: '/', value: text },
            { op: 'replace', path: '/description', value: key }
          )
        ]
      if (what === 'merge') return [{ kind: 'upsertEntity', entityUrn: urn, description: text }]
      if (what === 'delete') return [deleteAspect(urn, 'datasetProperties')]
      if (what === 'status') return [upsert(urn, 'status', { removed: false })]
      return [{ kind: 'deleteEntity', entityUrn: urn, hard: false }]
    })
  )

const somebody = fc.constantFrom('urn:li:corpuser:a', 'urn:li:corpuser:b')
const ownership = fc
  .record({
    of: fc.constantFrom(0, 4, 6),
    who: somebody,
    type: fc.constantFrom('DATAOWNER', 'PRODUCER'),
    what: fc.constantFrom(
      'put',
      'add',
      'remove',
      'remove all of one',
      'list',
      'at an index',
      'remove at an index',
      'delete'
    )
  })
  .map(({ of, who, type, what }) =>
    step(`ownership ${what}`, (world): Change[] => {
      const urn = at(world.assets, of)
      const owner: JsonObject = { owner: who, type }
      if (what === 'put') return [upsert(urn, 'ownership', { owners: [owner] })]
      if (what === 'delete') return [deleteAspect(urn, 'ownership')]
      if (what === 'add')
        return [patch(urn, 'ownership', { op: 'add', path: `/owners/${who}/${type}`, value: owner })]
      if (what === 'remove')
        return [patch(urn, 'ownership', { op: 'remove', path: `/owners/${who}/${type}` })]
      if (what === 'remove all of one')
        return [patch(urn, 'ownership', { op: 'remove', path: `/owners/${who}` })]
      if (what === 'list') return [patch(urn, 'ownership', { op: 'add', path: '/owners', value: [owner] })]
      const operation =
        what === 'at an index'
          ? { op: 'add' as const, path: '/owners/0', value: owner }
          : { op: 'remove' as const, path: '/owners/0' }
      return [
        {
          kind: 'patchAspect',
          entityUrn: urn,
          aspectName: 'ownership',
          patch: { patch: [operation], forceGenericPatch: true }
        }
      ]
    })
  )

const deletedLineage = fc.constantFrom(...lineageTargets).map((target) =>
  step(
    `delete ${target.aspect}`,
    (world) => [deleteAspect(ownerOf(target, world), target.aspect)],
    (world) => [{ kind: 'clear', owner: ownerOf(target, world), aspect: target.aspect }]
  )
)

const domainSteps = fc
  .record({
    of: fc.nat({ max: 1 }),
    domain: fc.constantFrom(0, 1),
    context: fc.option(fc.constantFrom('c', 'd')),
    what: fc.constantFrom(
      'set',
      'unset',
      'put',
      'put',
      'put associations',
      'put both',
      'put one list',
      'put none',
      'add',
      'add association',
      'remove',
      'remove association',
      'remove list',
      'several',
      'delete'
    )
  })
  .map(({ of, domain: which, context, what }) =>
    step(`domain ${what}`, (world): Change[] => {
      const urn = at(world.assets, of)
      const named = at(domains, which)
      const association: JsonObject = { domain: named, ...(context === null ? {} : { context }) }
      const unnamed = { op: 'remove' as const, path: `/domains/${named}` }
      if (what === 'put associations') return [upsert(urn, 'domains', { domainAssociations: [association] })]
      if (what === 'put both')
        return [upsert(urn, 'domains', { domains: [named], domainAssociations: [association] })]
      if (what === 'put one list')
        return [upsert(urn, 'domains', { domains: [], domainAssociations: [association] })]
      if (what === 'put none') return [upsert(urn, 'domains', { domains: [] })]
      if (what === 'remove') return [patch(urn, 'domains', unnamed)]
      if (what === 'remove association')
        return [patch(urn, 'domains', { op: 'remove', path: '/domainAssociations/0' })]
      if (what === 'remove list')
        return [
          patch(urn, 'domains', { op: 'remove', path: context === null ? '/domains' : '/domainAssociations' })
        ]
      if (what === 'add') return [patch(urn, 'domains', { op: 'replace', path: '/domains', value: [named] })]
      if (what === 'add association')
        return [patch(urn, 'domains', { op: 'replace', path: '/domainAssociations', value: [association] })]
      if (what === 'several')
        return [
          patch(
            urn,
            'domains',
            unnamed,
            { op: 'remove', path: `/domains/${at(domains, which + 1)}` },
            { op: 'add', path: `/domains/${named}`, value: named }
          )
        ]
      if (what === 'set') return [setDomain(urn, at(domains, which))]
      if (what === 'unset') return [unsetDomain(urn)]
      if (what === 'delete') return [deleteAspect(urn, 'domains')]
      return [upsert(urn, 'domains', { domains: [at(domains, which)] })]
    })
  )

const deletion = fc.record({ of: index, what: fc.constantFrom('delete', 'create') }).map(({ of, what }) =>
  step(`${what} asset`, (world) => {
    const urn = at(world.assets, of * 2)
    return what === 'delete' ? [hardDelete(urn)] : [{ kind: 'upsertEntity', entityUrn: urn, name: 'anew' }]
  })
)

/** Refused only when it is applied, so earlier effects of the record must be rolled back. */
const refused: fc.Arbitrary<Step> = fc.constant({
  name: 'refused',
  changes: () => [deleteAspect(at(domains, 0), 'domainProperties')],
  edges: () => [],
  isRefused: true
})

/** One change of any kind except deletions of entities. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: byEnds },
  { weight: 5, arbitrary: documents },
  { weight: 1, arbitrary: replaced },
  { weight: 10, arbitrary: lineagePatches },
  { weight: 2, arbitrary: properties },
  { weight: 1, arbitrary: ownership },
  { weight: 1, arbitrary: deletedLineage },
  { weight: 3, arbitrary: domainSteps },
  { weight: 1, arbitrary: refused }
)

/**
 * One change, including deletions of entities. Whether a soft deletion has an effect is decided when it is
 * applied.
 */
export const anyStepOrDeletion: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: anyStep.filter(({ name }) => name !== 'properties soft delete') },
  { weight: 1, arbitrary: deletion }
)
