/** The order of rows in the table of the UI, and the columns that have room in a line. */
import t from 'tap'
import { foldedColumns } from '../../web/src/parts/folded-columns.ts'
import { nextSort, printSort, readSort, sortRows } from '../../web/src/parts/sort-rows.ts'
import { fc } from '../support/fast-check.ts'

type Row = { name: string | null; size: number | null; at: number }
const columns = [
  { id: 'name', value: (row: Row) => row.name },
  { id: 'size', value: (row: Row) => row.size }
]
const sorted = (rows: readonly Row[], id: string, isDescending = false): Row[] => [
  ...sortRows(rows, columns, { id, isDescending })
]
const rowsOf = (...values: [string | null, number | null][]): Row[] =>
  values.map(([name, size], at) => ({ name, size, at }))

t.test('rows', async (t) => {
  t.test(
    'are ordered by size where they are numbers, and by the alphabet where they are words',
    async (t) => {
      const rows = rowsOf(['b10', 10], ['B9', 9], ['a', 100], ['ä', 1])
      t.strictSame(
        sorted(rows, 'name').map(({ name }) => name),
        ['a', 'ä', 'B9', 'b10']
      )
      t.strictSame(
        sorted(rows, 'size', true).map(({ size }) => size),
        [100, 10, 9, 1]
      )
    }
  )

  t.test('without a value come last in both orders', async (t) => {
    const rows = rowsOf(['b', null], ['a', 2], ['c', 1])
    t.strictSame(
      [sorted(rows, 'size'), sorted(rows, 'size', true)].map((each) => each.map(({ size }) => size)),
      [
        [1, 2, null],
        [2, 1, null]
      ]
    )
  })

  t.test('keep their order without a sort, and with one by an unknown column', async (t) => {
    const rows = rowsOf(['b', 2], ['a', 1])
    t.equal(sortRows(rows, columns, null), rows)
    t.equal(sortRows(rows, columns, { id: 'constructor', isDescending: false }), rows)
  })

  t.test('each appear once after any sort, and equal ones keep their order', async (t) => {
    const value = fc.record({
      name: fc.option(fc.constantFrom('a', 'B', 'b', 'ä', '10', '9')),
      size: fc.option(fc.integer({ min: 0, max: 3 }))
    })
    fc.assert(
      fc.property(
        fc.array(value),
        fc.constantFrom('name', 'size'),
        fc.boolean(),
        (values, id, isDescending) => {
          const rows = values.map((each, at) => ({ ...each, at }))
          const result = sorted(rows, id, isDescending)
          t.strictSame(
            result.map(({ at }) => at).sort((a, b) => a - b),
            rows.map(({ at }) => at)
          )
          for (const [index, row] of result.entries()) {
            const next = result[index + 1]
            if (id === 'size' && next && row.size === next.size) t.ok(row.at < next.at)
          }
        }
      )
    )
  })
})

t.test('clicks on a column head sort ascending, then descending, then not at all', async (t) => {
  const first = nextSort(null, 'name')
  const second = nextSort(first, 'name')
  t.strictSame([first, second, nextSort(second, 'name'), nextSort(second, 'size')].map(printSort), [
    'name',
    '-name',
    null,
    'size'
  ])
  for (const text of ['name', '-name']) t.equal(printSort(readSort(text)), text)
  t.equal(readSort(undefined), null)
})

t.test(
  'columns that do not fit are folded, the lowest number first, and those without one never',
  async (t) => {
    const all = [
      { id: 'name', width: 'minmax(200px, 2fr)' },
      { id: 'type', width: '100px', fold: 1 },
      { id: 'domain', width: 'minmax(150px, 1fr)', fold: 3 },
      { id: 'env', width: '50px', fold: 2 }
    ]
    const folded = (width: number): string[] => foldedColumns(all, width).map(({ id }) => id)
    // 500 pixels, and 36 between the four.
    t.strictSame([folded(536), folded(535)], [[], ['type']])
    t.strictSame(
      [folded(424), folded(423), folded(361)],
      [['type'], ['type', 'env'], ['type', 'domain', 'env']]
    )
    t.strictSame(folded(10), ['type', 'domain', 'env'])
    t.strictSame(folded(0), [], 'the width is not known yet')
  }
)
