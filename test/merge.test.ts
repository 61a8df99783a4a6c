/** The merge of what an owner asserts: bounded however often a list names one upstream, and taken back to the last row. */
import t from 'tap'
import {
  addStored,
  assertEntry,
  emptyOwner,
  replaceEdges,
  rowsOfOwner,
  takeRow,
  type MergeContext,
  type OwnerStatements,
  type ResolvedEntry
} from '../shared/statements/merge.ts'
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
  'a list that names one upstream twenty thousand times is asserted, written again and taken back',
  (t) => {
    const undo: (() => void)[] = []
    const statements = owner()
    const entries = Array.from({ length: 20_000 }, (_, index) => entry(index))
    for (const each of entries) assertEntry(contextWith(undo), statements, each, order)
    t.equal(rowsOfOwner(statements).length, entries.length)
    for (const step of undo.reverse()) step()
    t.equal(rowsOfOwner(statements).length, 0)
    replaceEdges(contextWith([]), statements, { of: 'aspect', sourceId: null }, entries, order)
    t.equal(rowsOfOwner(statements).length, entries.length)
    t.end()
  }
)

t.test('whatever a record did to the rows, taking it back leaves what was there', (t) => {
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
          if (row) takeRow(context, statements, row)
        }
      }
      for (const back of undo.reverse()) back()
      t.same(keysOf(statements), found)
    }),
    { numRuns: 300 }
  )
  t.end()
})
