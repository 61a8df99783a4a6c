/**
 * The merge of an owner's statements: bounded however often a list names one upstream, and reverted to the
 * last row.
 */
import t from 'tap'
import {
  addStored,
  assertEntry,
  emptyOwner,
  replaceEdges,
  rowsOfOwner,
  deleteRow,
  type MergeContext,
  type OwnerStatements,
  type ResolvedEntry
} from '../shared/statements/merge.ts'
import { dropRow, emptyEdge, isHiddenByNewer, rowAt, setRow } from '../shared/statements/edge-rows.ts'
import { bareRecordKey, singleRecordKey } from '../shared/model/record-keys.ts'
import type { StatementRow } from '../shared/statements/rows.ts'
import { fc } from './support/fast-check.ts'

const owner = (): OwnerStatements => emptyOwner({ ownerId: 7, aspectCode: 1 })
const contextWith = (undo: MergeContext['undo']): MergeContext => ({
  sourceId: 1,
  keepsOrder: true,
  isDeletedAfter: () => false,
  checkDownstream: () => {},
  asserted: null,
  undo
})
const entry = (recordKey: number, upstreamId = 5): ResolvedEntry => ({
  fieldCode: 0x10,
  downstreamId: 7,
  upstreamId,
  recordKey,
  position: recordKey,
  attributes: null
})
const order = { seq: 3, line: 1 }
const keysOf = (statements: OwnerStatements): string[] =>
  rowsOfOwner(statements)
    .map(({ upstreamId, recordKey, seq }) => `${upstreamId} ${recordKey} ${seq}`)
    .sort()

t.test(
  'a list that names one upstream twenty thousand times is stated, undone, and written again by two sources',
  (t) => {
    const undo: (() => void)[] = []
    const statements = owner()
    const entries = Array.from({ length: 20_000 }, (_, index) => entry(index))
    for (const each of entries) assertEntry(contextWith(undo), statements, each, order)
    t.equal(rowsOfOwner(statements).length, entries.length)
    for (const step of undo.reverse()) step()
    t.equal(rowsOfOwner(statements).length, 0)
    for (const sourceId of [1, 2, 1, 2])
      replaceEdges(contextWith([]), statements, { of: 'aspect', sourceId }, entries, {
        seq: order.seq + sourceId,
        line: 1
      })
    t.equal(rowsOfOwner(statements).length, 2 * entries.length)
    t.end()
  }
)

t.test('a newer row hides an older one as when all rows are compared, however many there are', (t) => {
  const row = fc.record({
    field: fc.constantFrom(0x10, 0x11),
    sourceId: fc.constantFrom(1, 2, 3),
    recordKey: fc.oneof(fc.nat({ max: 12 }), fc.constantFrom(singleRecordKey, bareRecordKey)),
    seq: fc.integer({ min: 1, max: 4 }),
    attributes: fc.constantFrom(null, { type: 'VIEW' }, { type: 'COPY' })
  })
  const step = fc.record({ row, isDropped: fc.boolean() })
  let manyRowsCount = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) => {
      const edge = emptyEdge()
      const full = (each: (typeof steps)[number]['row']): StatementRow => ({
        ...each,
        ownerId: 7,
        downstreamId: 7,
        upstreamId: 5,
        position: 0,
        line: 1
      })
      for (const { row: each, isDropped } of steps) {
        if (isDropped && edge.rows.length > 12) dropRow(edge, each)
        else setRow(edge, full(each))
        if (edge.rows.length > 8) manyRowsCount += 1
        const hides = (other: StatementRow): boolean =>
          other.recordKey !== bareRecordKey &&
          other.seq > each.seq &&
          ((other.sourceId !== each.sourceId &&
            JSON.stringify(other.attributes) !== JSON.stringify(each.attributes)) ||
            (other.field === each.field &&
              (other.recordKey === singleRecordKey) !== (each.recordKey === singleRecordKey)))
        const expected = each.recordKey !== bareRecordKey && edge.rows.some(hides)
        if (isHiddenByNewer(edge, full(each)) !== expected) throw new Error(JSON.stringify(each))
        for (const known of edge.rows) if (rowAt(edge, known) !== known) throw new Error('lost a row')
      }
    }),
    { numRuns: 500 }
  )
  t.ok(manyRowsCount > 1_000)
  t.end()
})

t.test('whatever a record did to the rows, undoing it leaves what was there', (t) => {
  const step = fc.record({
    does: fc.constantFrom('assert' as const, 'take' as const, 'replace' as const),
    recordKey: fc.nat({ max: 20 }),
    upstreamId: fc.constantFrom(5, 6)
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.array(step, { maxLength: 60 }), (before, record) => {
      const statements = owner()
      for (const { recordKey, upstreamId } of before) {
        const { fieldCode: field, ...row } = entry(recordKey, upstreamId)
        const stored: StatementRow = {
          ...row,
          field,
          ownerId: 7,
          sourceId: 1,
          seq: 1,
          line: 1,
          attributes: null
        }
        addStored(statements, stored)
      }
      const found = keysOf(statements)
      const undo: (() => void)[] = []
      const context = contextWith(undo)
      for (const { does, recordKey, upstreamId } of record) {
        if (does === 'assert') assertEntry(context, statements, entry(recordKey, upstreamId), order)
        else if (does === 'replace')
          replaceEdges(
            context,
            statements,
            { of: 'aspect', sourceId: null },
            [entry(recordKey, upstreamId)],
            order
          )
        else {
          const row = rowsOfOwner(statements).find(
            (each) => each.recordKey === recordKey && each.upstreamId === upstreamId
          )
          if (row) deleteRow(context, statements, row)
        }
      }
      for (const back of undo.reverse()) back()
      t.same(keysOf(statements), found)
    }),
    { numRuns: 300 }
  )
  t.end()
})
