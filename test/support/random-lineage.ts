/** Random documents and patches of every lineage aspect, and their effects on edges. */
import type { JsonObject, JsonValue, PatchOperation } from '../../shared/model/changes.ts'
import type { LineageField } from '../../shared/model/lineage-fields.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import { column, segment, upstream } from './changes.ts'
import { fc } from './fast-check.ts'
import {
  at,
  columnFieldOf,
  edgeOf,
  endsOf,
  index,
  listOf,
  othersOf,
  ownerOf,
  plainGroup,
  simpleFieldsOf,
  target,
  type EdgeStep,
  type Target,
  type World
} from './order-world.ts'

type Edges = (world: World) => EdgeStep[]
export type RandomDocument = { target: Target; document: (world: World) => JsonObject; edges: Edges }
export type RandomOperation = { name: string; of: (world: World) => PatchOperation; edges: Edges }
export type RandomPatch = { target: Target; operations: RandomOperation[] }

const queryUrn = 'urn:li:query:q'
const upstreamType = fc.constantFrom('COPY', 'TRANSFORMED', 'VIEW')
const text = fc.constantFrom('p', 'q')

/** An entry of a simple list; `other` is the number of the entity it refers to. */
type Entry = { other: number; type: string; text: string | null }
const entry: fc.Arbitrary<Entry> = fc.record({
  other: fc.nat({ max: 5 }),
  type: upstreamType,
  text: fc.option(text)
})

const otherOf = (field: LineageField, { other }: Pick<Entry, 'other'>, world: World): Urn =>
  at(othersOf(field, world), other)

function printEntry(field: LineageField, each: Entry, world: World): JsonValue {
  const other = otherOf(field, each, world)
  const said: JsonObject = each.text === null ? {} : { properties: { [each.text]: each.text } }
  if (field.shape === 'upstream') return upstream(other, { type: each.type, ...said })
  if (field.shape === 'edge') return { destinationUrn: other, ...said }
  return field.shape === 'union' ? { string: other } : other
}

const addedEntries =
  (of: Target, field: LineageField, entries: readonly Entry[]): Edges =>
  (world) =>
    entries.map((each) => ({
      kind: 'add',
      owner: ownerOf(of, world),
      list: listOf(field),
      edge: endsOf(field, ownerOf(of, world), otherOf(field, each, world))
    }))

const cleared =
  (of: Target, field?: LineageField): Edges =>
  (world) => [
    { kind: 'clear', owner: ownerOf(of, world), aspect: of.aspect, ...(field ? { list: listOf(field) } : {}) }
  ]

/** A column record, by the numbers of columns; `source` is a whole dataset among its upstreams. */
type Columns = {
  down: number[]
  up: number[]
  source: boolean
  operation: 'NONE' | 'OP' | null
  hasQuery: boolean
  score: number
}
const operationName = fc.constantFrom('NONE', 'OP')
const columns: fc.Arbitrary<Columns> = fc.record({
  down: fc.subarray([0, 1], { minLength: 1 }),
  up: fc.subarray([2, 3, 0]),
  source: fc.nat(5).map((drawn) => drawn === 0),
  operation: fc.constantFrom(null, null, 'NONE' as const, 'OP' as const),
  hasQuery: fc.nat(3).map((drawn) => drawn === 0),
  score: fc.constantFrom(1, 0.5)
})

const printColumns = (each: Columns, world: World): JsonObject => ({
  upstreamType: 'FIELD_SET',
  downstreamType: 'FIELD',
  confidenceScore: each.score,
  downstreams: each.down.map((down) => at(world.columns, down)),
  upstreams: [...each.up.map((up) => at(world.columns, up)), ...(each.source ? [at(world.datasets, 1)] : [])],
  ...(each.operation === null ? {} : { transformOperation: each.operation }),
  ...(each.hasQuery ? { query: queryUrn } : {})
})

const groupName = (operation: string | null, hasQuery: boolean): string =>
  operation === null && !hasQuery ? plainGroup : `${operation ?? 'NONE'} ${hasQuery ? queryUrn : 'NONE'}`

const addedColumns =
  (of: Target, field: LineageField, records: readonly Columns[]): Edges =>
  (world) =>
    records.flatMap((each) =>
      each.down.flatMap((down) =>
        each.up.map((up): EdgeStep => ({
          kind: 'add',
          owner: ownerOf(of, world),
          list: listOf(field),
          edge: edgeOf(at(world.columns, down), at(world.columns, up)),
          group: each.down.length > 1 ? 'several' : groupName(each.operation, each.hasQuery)
        }))
      )
    )

/** An input field, by the number of its column. The chart's own column may have the same name or another. */
type InputField = { up: number; path: string | null }
const inputField: fc.Arbitrary<InputField> = fc.record({
  up: index,
  path: fc.option(fc.constantFrom('x', 'z'))
})
const pathOf = ({ up, path }: InputField): string => path ?? (up % 2 === 0 ? 'x' : 'y')
const printInputField = (each: InputField, world: World): JsonObject => ({
  schemaFieldUrn: at(world.columns, each.up),
  ...(each.path === null ? {} : { schemaField: { fieldPath: each.path } })
})
const addedInputFields =
  (of: Target, fields: readonly InputField[]): Edges =>
  (world) =>
    fields.map((each) => ({
      kind: 'add',
      owner: ownerOf(of, world),
      list: 'inputFields.fields',
      edge: edgeOf(column(ownerOf(of, world), pathOf(each)), at(world.columns, each.up))
    }))

/** The required fields of an aspect besides its edges. */
const required = (aspect: string, title: string): JsonObject =>
  aspect === 'chartInfo' || aspect === 'dashboardInfo'
    ? { title, description: '' }
    : aspect.startsWith('ml')
      ? { description: title }
      : {}
const requiredLists: readonly string[] = ['upstreams', 'inputDatasets', 'outputDatasets']

const documentOf = (of: Target): fc.Arbitrary<RandomDocument> => {
  if (of.aspect === 'inputFields') {
    return fc.array(inputField, { maxLength: 3 }).map((fields) => ({
      target: of,
      document: (world) => ({ fields: fields.map((each) => printInputField(each, world)) }),
      edges: (world) => [...cleared(of)(world), ...addedInputFields(of, fields)(world)]
    }))
  }
  const fields = simpleFieldsOf(of.aspect)
  const columnField = columnFieldOf(of.aspect)
  return fc
    .record({
      title: fc.constantFrom('s', 't'),
      lists: fc.tuple(
        ...fields.map(() => fc.option(fc.array(entry, { maxLength: fields.length > 1 ? 2 : 4 }), { freq: 2 }))
      ),
      records: columnField ? fc.option(fc.array(columns, { maxLength: 2 }), { freq: 2 }) : fc.constant(null)
    })
    .map(({ title, lists, records }) => {
      const stated = fields.flatMap((field, number) =>
        lists[number] || requiredLists.includes(field.listName)
          ? [{ field, entries: lists[number] ?? [] }]
          : []
      )
      return {
        target: of,
        document: (world) => ({
          ...required(of.aspect, title),
          ...Object.fromEntries(
            stated.map(({ field, entries }) => [
              field.listName,
              entries.map((each) => printEntry(field, each, world))
            ])
          ),
          ...(columnField && records
            ? { [columnField.listName]: records.map((each) => printColumns(each, world)) }
            : {})
        }),
        edges: (world) => [
          ...cleared(of)(world),
          ...stated.flatMap(({ field, entries }) => addedEntries(of, field, entries)(world)),
          ...(columnField && records ? addedColumns(of, columnField, records)(world) : [])
        ]
      }
    })
}

export const anyDocument: fc.Arbitrary<RandomDocument> = target.chain(documentOf)

const nothing: Edges = () => []

/** Operations on a list of single edges: on one entry, on a field of an entry, on the whole list. */
const entryOperation = (of: Target, field: LineageField): fc.Arbitrary<RandomOperation> =>
  fc
    .record({
      each: entry,
      op: fc.constantFrom('add' as const, 'replace' as const),
      list: fc.array(entry, { maxLength: 3 }),
      what: fc.constantFrom(
        'add',
        'add',
        'append',
        'remove',
        'remove',
        'say',
        'say',
        'unsay',
        'list',
        'no list'
      )
    })
    .map(({ each, op, list, what }) => {
      const path = (world: World) => `/${field.listName}/${segment(otherOf(field, each, world))}`
      const name = `${what} ${field.listName}`
      const isTold = field.shape === 'upstream' || field.shape === 'edge'
      if (what === 'remove')
        return {
          name,
          of: (world) => ({ op: 'remove', path: path(world) }),
          edges: (world) => [
            {
              kind: 'remove',
              owner: ownerOf(of, world),
              aspect: of.aspect,
              list: listOf(field),
              edge: endsOf(field, ownerOf(of, world), otherOf(field, each, world))
            }
          ]
        }
      if (what === 'list')
        return {
          name,
          of: (world) => ({
            op,
            path: `/${field.listName}`,
            value: list.map((one) => printEntry(field, one, world))
          }),
          edges: (world) => [...cleared(of, field)(world), ...addedEntries(of, field, list)(world)]
        }
      if (what === 'no list')
        return { name, of: () => ({ op: 'remove', path: `/${field.listName}` }), edges: cleared(of, field) }
      if (what === 'say' && isTold) {
        return field.shape === 'upstream' && each.text === null
          ? {
              name: 'type',
              of: (world) => ({ op, path: `${path(world)}/type`, value: each.type }),
              edges: nothing
            }
          : {
              name,
              of: (world) => ({
                op,
                path: `${path(world)}/properties${each.text === null ? '' : `/${each.text}`}`,
                value: each.text === null ? { r: each.type } : each.type
              }),
              edges: nothing
            }
      }
      if (what === 'unsay' && isTold)
        return {
          name,
          of: (world) => ({
            op: 'remove',
            path: `${path(world)}/properties${each.text === null ? '' : `/${each.text}`}`
          }),
          edges: nothing
        }
      if (what === 'append')
        return {
          name,
          of: (world) => ({ op: 'add', path: `/${field.listName}/-`, value: printEntry(field, each, world) }),
          edges: addedEntries(of, field, [each])
        }
      return {
        name,
        of: (world) => ({ op, path: path(world), value: printEntry(field, each, world) }),
        edges: addedEntries(of, field, [each])
      }
    })

/**
 * Operations on column records: on a pair, on a whole dataset as the source, on everything that leads into a
 * column, on the whole list.
 */
const columnOperation = (of: Target, field: LineageField): fc.Arbitrary<RandomOperation> =>
  fc
    .record({
      down: fc.constantFrom(0, 1),
      up: fc.constantFrom(2, 3, 0),
      operation: operationName,
      hasQuery: fc.nat(3).map((drawn) => drawn === 0),
      score: fc.constantFrom(1, 0.5),
      records: fc.array(columns, { maxLength: 2 }),
      what: fc.constantFrom(
        'add pair',
        'add pair',
        'add pair',
        'remove pair',
        'remove pair',
        'add source',
        'remove source',
        'remove into',
        'records',
        'no records'
      )
    })
    .map(({ down, up, operation, hasQuery, score, records, what }) => {
      const into = (world: World) => `/${field.listName}/${operation}/${segment(at(world.columns, down))}`
      const path = (world: World, other: Urn) =>
        `${into(world)}/${hasQuery ? queryUrn : 'NONE'}/${segment(other)}`
      const edge = (world: World) => edgeOf(at(world.columns, down), at(world.columns, up))
      const value = { confidenceScore: score }
      const group = groupName(operation, hasQuery)
      if (what === 'add pair')
        return {
          name: what,
          of: (world) => ({ op: 'add', path: path(world, at(world.columns, up)), value }),
          edges: (world) => [
            { kind: 'add', owner: ownerOf(of, world), list: listOf(field), edge: edge(world), group }
          ]
        }
      if (what === 'remove pair')
        return {
          name: what,
          of: (world) => ({ op: 'remove', path: path(world, at(world.columns, up)) }),
          edges: (world) => [
            {
              kind: 'remove',
              owner: ownerOf(of, world),
              aspect: of.aspect,
              list: listOf(field),
              edge: edge(world),
              group
            }
          ]
        }
      if (what === 'add source')
        return {
          name: what,
          of: (world) => ({ op: 'add', path: path(world, at(world.datasets, up)), value }),
          edges: nothing
        }
      if (what === 'remove source')
        return {
          name: what,
          of: (world) => ({ op: 'remove', path: path(world, at(world.datasets, up)) }),
          edges: nothing
        }
      if (what === 'remove into')
        return {
          name: what,
          of: (world) => ({ op: 'remove', path: hasQuery ? `${into(world)}/${queryUrn}` : into(world) }),
          edges: (world) => [
            {
              kind: 'clear',
              owner: ownerOf(of, world),
              aspect: of.aspect,
              list: listOf(field),
              downstream: at(world.columns, down)
            }
          ]
        }
      if (what === 'no records')
        return {
          name: what,
          of: () => ({ op: 'remove', path: `/${field.listName}` }),
          edges: cleared(of, field)
        }
      return {
        name: what,
        of: (world) => ({
          op: 'add',
          path: `/${field.listName}`,
          value: records.map((each) => printColumns(each, world))
        }),
        edges: (world) => [...cleared(of, field)(world), ...addedColumns(of, field, records)(world)]
      }
    })

const inputFieldsOperation = (of: Target): fc.Arbitrary<RandomOperation> =>
  fc.array(inputField, { maxLength: 3 }).map((fields) => ({
    name: 'fields',
    of: (world) => ({
      op: 'add',
      path: '/fields',
      value: fields.map((each) => printInputField(each, world))
    }),
    edges: (world) => [
      { kind: 'clear', owner: ownerOf(of, world), aspect: of.aspect },
      ...addedInputFields(of, fields)(world)
    ]
  }))

/** A field besides the edges: one that the aspect has, or an unknown one under the empty name. */
const restOperation = (of: Target): fc.Arbitrary<RandomOperation> =>
  fc
    .record({ isKnown: fc.boolean(), said: text, isRemoved: fc.boolean() })
    .map(({ isKnown, said, isRemoved }) => {
      const known =
        of.aspect === 'chartInfo' || of.aspect === 'dashboardInfo' ? '/customProperties/k' : '/description'
      const path = isKnown ? known : '/'
      return {
        name: `${isRemoved ? 'remove' : 'add'} ${path}`,
        of: () => (isRemoved ? { op: 'remove', path } : { op: 'add', path, value: said }),
        edges: nothing
      }
    })

const operationOf = (of: Target): fc.Arbitrary<RandomOperation> => {
  const columnField = columnFieldOf(of.aspect)
  const simple = simpleFieldsOf(of.aspect).map((field) => ({
    weight: 4,
    arbitrary: entryOperation(of, field)
  }))
  return fc.oneof(
    { weight: 1, arbitrary: restOperation(of) },
    ...simple,
    ...(columnField ? [{ weight: 4 * simple.length, arbitrary: columnOperation(of, columnField) }] : []),
    ...(of.aspect === 'inputFields' ? [{ weight: 4, arbitrary: inputFieldsOperation(of) }] : [])
  )
}

export const anyLineagePatch: fc.Arbitrary<RandomPatch> = target.chain((of) =>
  fc.record({
    target: fc.constant(of),
    operations: fc.oneof(
      { weight: 3, arbitrary: fc.array(operationOf(of), { minLength: 1, maxLength: 1 }) },
      { weight: 2, arbitrary: fc.array(operationOf(of), { minLength: 2, maxLength: 4 }) }
    )
  })
)
