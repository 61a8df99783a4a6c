/** Stored columns return what was stored, or are refused, whichever part of them is damaged. */
import t from 'tap'
import { packColumns, unpackColumns, type StoredKind } from '../shared/statements/codec.ts'
import { fc } from './support/fast-check.ts'

const anyTable = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.nat({ max: 20 }))
  .chain(([columnCount, rowCount]) =>
    fc.array(fc.int32Array({ minLength: rowCount, maxLength: rowCount }), {
      minLength: columnCount,
      maxLength: columnCount
    })
  )
const anyKind = fc.constantFrom<StoredKind>('chunk', 'changes', 'journal', 'columnChunk')

t.test('stored columns and what follows them are read back', (t) => {
  fc.assert(
    fc.property(anyKind, anyTable, fc.uint8Array(), (kind, columns, rest) => {
      const stored = packColumns(kind, columns, Buffer.from(rest))
      t.same(unpackColumns(kind, stored, columns.length), { columns, appendix: Buffer.from(rest) })
    })
  )
  t.end()
})

t.test('no damage of stored columns goes unnoticed', (t) => {
  fc.assert(
    fc.property(
      anyKind,
      anyTable,
      fc.uint8Array(),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      (kind, columns, rest, place, by, isCut) => {
        const stored = packColumns(kind, columns, Buffer.from(rest))
        const at = place % stored.length
        const damaged = Buffer.from(isCut ? stored.subarray(0, at) : stored)
        if (!isCut) damaged[at] = (damaged[at] ?? 0) ^ by
        t.throws(() => unpackColumns(kind, damaged, columns.length))
      }
    ),
    { numRuns: 1_000 }
  )
  t.end()
})

t.test('columns of one kind are not taken for another', (t) => {
  const stored = packColumns('chunk', [Int32Array.of(1)])
  t.throws(() => unpackColumns('journal', stored, 1), /kind journal/)
  t.throws(() => unpackColumns('chunk', stored, 2), /another shape/)
  t.end()
})
