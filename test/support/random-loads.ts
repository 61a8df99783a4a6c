/** Random histories of loads for tests of undo, as lines of the format ndjson. */
import type { Change, JsonValue } from '../../shared/model/changes.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import { entityTypeOf } from '../../shared/urn/urn.ts'
import {
  addEdge,
  column,
  create,
  createDomain,
  dataset,
  domain,
  removeEdge,
  setDomain,
  upsert,
  upstream
} from './changes.ts'
import { fc } from './fast-check.ts'
import { at, type World } from './order-world.ts'
import { anyStep } from './random-records.ts'

export type Line = (world: World) => JsonValue[]

/** Each history has one load for each style. `chunks` is the number of chunks for the lines of a load. */
export type LoadStyle = {
  lines: 'any' | 'edges' | 'documents' | 'again'
  missing: 'create' | 'reject'
  source: string
  chunks: number
}
export type History = { loads: Line[][] }

const fresh = (world: World, number: number): Urn => dataset(`${world.name}.new${number}`)
const ownDomain = (world: World, number: number): Urn => domain(`${world.name}.own${number}`)
const anything = (world: World, number: number): Urn =>
  number < 4 ? at(world.datasets, number) : fresh(world, number)
const small = fc.nat({ max: 1 })
const anyNumber = fc.nat({ max: 5 })

/** The line for one change; null for a change that has no line. */
function lineOf(change: Change): JsonValue[] {
  switch (change.kind) {
    case 'addEdge':
      return [{ upstreamUrn: change.upstreamUrn, downstreamUrn: change.downstreamUrn }]
    case 'upsertAspect':
      return [proposal(change.entityUrn, 'UPSERT', change.aspectName, change.value)]
    case 'patchAspect':
      return [proposal(change.entityUrn, 'PATCH', change.aspectName, change.patch as JsonValue)]
    case 'deleteAspect':
      return entityTypeOf(change.entityUrn) === 'domain'
        ? []
        : [proposal(change.entityUrn, 'DELETE', change.aspectName)]
    case 'deleteEntity':
      return [proposal(change.entityUrn, 'UPSERT', 'status', { removed: true })]
    case 'upsertEntity': {
      const { entityUrn: urn, kind: op, ...more } = change
      return [{ op, urn, ...more }]
    }
    case 'createDomain': {
      const { domainUrn, kind: op, ...more } = change
      return [{ op, id: domainUrn.replace('urn:li:domain:', ''), ...more }]
    }
    case 'removeEdge':
    case 'setDomain':
    case 'unsetDomain':
    case 'renameDomain':
    case 'moveDomain': {
      const { kind: op, ...more } = change
      return [{ op, ...more }]
    }
    default:
      return []
  }
}

const proposal = (entityUrn: Urn, changeType: string, aspectName: string, aspect?: JsonValue): JsonValue => ({
  entityType: entityTypeOf(entityUrn),
  entityUrn,
  changeType,
  aspectName,
  ...(aspect === undefined ? {} : { aspect })
})

const linesOf = (changes: fc.Arbitrary<(world: World) => Change[]>): fc.Arbitrary<Line> =>
  changes.map((of) => (world) => of(world).flatMap(lineOf))

const anyPair = fc.tuple(anyNumber, anyNumber)
const edges = linesOf(
  fc.oneof(
    {
      weight: 3,
      arbitrary: anyPair.map(([up, down]) => (world: World) => [
        addEdge(anything(world, up), anything(world, down))
      ])
    },
    {
      weight: 1,
      arbitrary: anyPair.map(([up, down]) => (world: World) => [
        addEdge(column(anything(world, up), 'x'), column(anything(world, down), 'x'))
      ])
    },
    {
      weight: 2,
      arbitrary: anyPair.map(([up, down]) => (world: World) => [
        removeEdge(anything(world, up), anything(world, down))
      ])
    }
  )
)

const documents = linesOf(
  fc
    .tuple(anyNumber, fc.uniqueArray(anyNumber, { maxLength: 3 }), fc.constantFrom('COPY', 'VIEW'))
    .map(([down, ups, type]) => (world: World) => [
      upsert(anything(world, down), 'upstreamLineage', {
        upstreams: ups.map((up) => upstream(anything(world, up), { type }))
      })
    ])
)

const entities = linesOf(anyNumber.map((number) => (world: World) => create(anything(world, number))))

const domainTree = linesOf(
  fc
    .record({
      of: small,
      other: small,
      asset: anyNumber,
      what: fc.constantFrom('create', 'create below', 'rename', 'move', 'to the top', 'set')
    })
    .map(({ of, other, asset, what }) => (world: World): Change[] => {
      const urn = ownDomain(world, of)
      if (what === 'create') return [createDomain(urn, `${world.name} ${of}`)]
      if (what === 'create below') return [createDomain(urn, `${world.name} ${of}`, ownDomain(world, 1 - of))]
      if (what === 'rename')
        return [{ kind: 'renameDomain', domainUrn: urn, name: `${world.name} ${of} named ${other}` }]
      if (what === 'set') return [setDomain(anything(world, asset), urn)]
      return [
        {
          kind: 'moveDomain',
          domainUrn: urn,
          parentDomain: what === 'move' ? ownDomain(world, 1 - of) : null
        }
      ]
    })
)

const anyLine: fc.Arbitrary<Line> = fc.oneof(
  { weight: 8, arbitrary: linesOf(anyStep.map((step) => step.changes)) },
  { weight: 2, arbitrary: edges },
  { weight: 1, arbitrary: documents },
  { weight: 1, arbitrary: entities },
  { weight: 2, arbitrary: domainTree }
)

export const anyStyle: fc.Arbitrary<LoadStyle> = fc.record({
  lines: fc.oneof(
    { weight: 5, arbitrary: fc.constant('any' as const) },
    { weight: 2, arbitrary: fc.constantFrom('edges' as const, 'documents' as const) },
    { weight: 1, arbitrary: fc.constant('again' as const) }
  ),
  missing: fc.constantFrom('create', 'reject'),
  source: fc.constantFrom('north', 'south'),
  chunks: fc.constantFrom(1, 1, 2, 4)
})

export const historyOf = (styles: readonly LoadStyle[]): fc.Arbitrary<History> =>
  fc
    .tuple(
      ...styles.map(({ lines }) => {
        if (lines === 'again') return fc.constant<Line[]>([])
        return fc.array(lines === 'any' ? anyLine : lines === 'edges' ? edges : documents, { maxLength: 4 })
      })
    )
    .map((loads) => ({ loads }))
