/**
 * Every measured figure in the docs is one of `bench/results`, which `npm run bench` writes: the tables of the
 * pages that measure, and what the README and other pages take from them.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'

const read = (path: string): string => readFileSync(packagePath(path), 'utf8')

/** All numbers of a result, wherever they are in it. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(numbersIn)
}

const resultOf = (bench: string): unknown => JSON.parse(read(`bench/results/${bench}.json`))

/** How far a figure may be from what was measured: half of its last digit that is not a zero at the end. */
function halfOfLastDigit(figure: string): number {
  const [whole = '', decimals = ''] = figure.replaceAll(',', '').split('.')
  if (decimals !== '') return 0.5 * 10 ** -decimals.length
  return 0.5 * 10 ** (/0*$/.exec(whole)?.[0].length ?? 0)
}

/** Whether a measured number, perhaps in thousands or thousandths of the unit, is rounded to the figure. */
function isMeasured(figure: string, measured: readonly number[]): boolean {
  const value = Number(figure.replaceAll(',', ''))
  if (value === 0) return measured.includes(0)
  const most = halfOfLastDigit(figure) * 1.000_001
  return measured.some((number) =>
    [number, number * 1_000, number / 1_000].some((scaled) => Math.abs(scaled - value) <= most)
  )
}

const figuresIn = (text: string): string[] =>
  [...text.replaceAll(/`[^`]*`|aim [\d,.]+/g, '').matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([figure]) => figure)

type Table = { page: string; head: string; benches: readonly string[] }

const performance = (head: string, ...benches: string[]): Table => ({
  page: 'docs/performance.md',
  head,
  benches
})
const sizing = (head: string, ...benches: string[]): Table => ({ page: 'docs/sizing.md', head, benches })

/** A table with measured figures, and the benchmarks that measured them. */
const tables: readonly Table[] = [
  performance('| What | Figure |', 'loading', 'loading-memory'),
  performance('| Records | A second | Of plain edges |', 'loading-kinds'),
  performance('| | All | Postgres | API | Worker | Client |', 'loading'),
  performance('| Rows | URNs, s |', 'loading-references'),
  performance('| What | Against | Ratio | Aim |', 'lineage', 'lineage-http', 'freshness', 'histories'),
  performance('| What | Tributary | React Flow |', 'graph-ui'),
  performance('| Beside | Waits, ms |', 'abuse'),
  performance('| Beside | A search: before, now |', 'one-client'),
  performance('| What | Ratio | Aim |', 'tracing'),
  sizing('| | 1,000,000 assets, 5,000,000 edges |', 'sizes'),
  sizing('| Workers | A tenth of a core each', 'workers')
]

/** What is aimed at, and what a figure is compared with, is not measured. */
const notMeasured = new Set(['Aim', 'Against'])

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The rows below the head, each as its cells with measured figures. The first cell says what was measured. */
function measuredCells({ page, head }: Table): string[] {
  const lines = read(page).split('\n')
  const from = lines.findIndex((line) => line.startsWith(head))
  if (from < 0) return []
  const columns = cellsOf(lines[from] ?? '')
  const end = lines.findIndex((line, index) => index > from && !line.startsWith('|'))
  return lines
    .slice(from + 2, end)
    .flatMap((line) =>
      cellsOf(line).filter((_, column) => column > 0 && !notMeasured.has(columns[column] ?? ''))
    )
}

for (const table of tables)
  t.test(`${table.page}: every figure of the table ${table.head} is in bench/results`, async (t) => {
    const measured = table.benches.flatMap((bench) => numbersIn(resultOf(bench)))
    const cells = measuredCells(table)
    t.ok(cells.length > 0, 'the table is there')
    const unknown = cells.flatMap((cell) =>
      figuresIn(cell)
        .filter((figure) => !isMeasured(figure, measured))
        .map((figure) => `${figure}, in ${cell}`)
    )
    t.strictSame(unknown, [])
  })

t.test('every table of docs/performance.md is held', async (t) => {
  const heads = read('docs/performance.md')
    .split('\n')
    .filter((line, index, lines) => line.startsWith('|') && !(lines[index - 1] ?? '').startsWith('|'))
  t.strictSame(
    heads.filter((line) => !tables.some(({ head }) => line.startsWith(head))),
    []
  )
})

t.test('the README measures what it says it is good at, and says who else has it', async (t) => {
  /** The beginning of a row, and where its figures are from. */
  const rows: { row: string; benches: readonly string[]; given?: readonly string[] }[] = [
    { row: 'Exact answers', benches: ['lineage-http'], given: ['889,498'] },
    { row: 'No blind minutes', benches: ['freshness'], given: ['100,000'] },
    { row: 'Try a load', benches: ['loading'] },
    { row: 'Snapshots by source', benches: ['loading'] },
    { row: 'Bulk loads', benches: ['loading'], given: ['1,000,000'] },
    { row: 'Only Postgres', benches: ['loading-memory'] }
  ]
  const lines = read('README.md').split('\n')
  const from = lines.indexOf('| | Measured | Who else |')
  const end = lines.findIndex((line, index) => index > from && !line.startsWith('|'))
  const found = lines.slice(from + 2, end).map(cellsOf)
  t.equal(found.length, rows.length)
  for (const { row, benches, given = [] } of rows) {
    const [, claim = '', others = ''] = found.find(([what = '']) => what.startsWith(`**${row}`)) ?? []
    t.match(others, /DataHub|OpenMetadata|Marquez|nobody/, row)
    const measured = benches.flatMap((bench) => numbersIn(resultOf(bench)))
    const figures = figuresIn(claim).filter((figure) => !given.includes(figure))
    t.ok(figures.length > 0, `${row} has a figure`)
    t.strictSame(
      figures.filter((figure) => !isMeasured(figure, measured)),
      [],
      row
    )
    for (const figure of given)
      t.ok(
        benches.some((bench) => JSON.stringify(resultOf(bench)).includes(figure)),
        `${figure} is what ${benches.join(', ')} ran with`
      )
  }
})

t.test('a time or a size that another page measures is one of a page that measures', async (t) => {
  const known = new Set(figuresIn(`${read('docs/performance.md')}\n${read('docs/sizing.md')}`))
  const claim =
    /(\d[\d,]*(?:\.\d+)?) (?:us|microseconds|bytes (?:for each|per) edge|MB (?:for (?:the API|a worker)|and the graph))/g
  const others = ['README.md', 'CONTRIBUTING.md', ...pagesBelow('docs')].filter(
    (page) => !/performance|sizing|decisions/.test(page)
  )
  let count = 0
  for (const page of others)
    for (const [said, figure = ''] of read(page).matchAll(claim)) {
      count += 1
      t.ok(known.has(figure), `${page}: ${said}`)
    }
  t.ok(count > 2, `${count} claims`)
})

t.test('a figure is compared as it is rounded', async (t) => {
  const cases: [figure: string, measured: number, isIt: boolean][] = [
    ['7.2', 7.249, true],
    ['7.2', 7.26, false],
    ['139,000', 138_612, true],
    ['139,000', 139_700, false],
    ['0.29', 0.288, true],
    ['4.5', 4_460, true],
    ['251', 0.2514, true],
    ['251', 252, false],
    ['0', 0, true],
    ['0', 59, false]
  ]
  for (const [figure, measured, isIt] of cases)
    t.equal(isMeasured(figure, [measured]), isIt, `${figure} of ${measured}`)
})

t.test('every result says when it was measured', async (t) => {
  const names = readdirSync(packagePath('bench/results')).filter((name) => name.endsWith('.json'))
  t.ok(names.length >= 14)
  const benches = new Set(tables.flatMap((table) => table.benches))
  for (const name of names) {
    t.match(resultOf(name.replace('.json', '')), { at: /^2\d{3}-\d{2}-\d{2}/ }, name)
    t.ok(benches.has(name.replace('.json', '')), `${name} is cited`)
  }
  for (const bench of benches) t.ok(existsSync(packagePath(`bench/results/${bench}.json`)), bench)
})

function pagesBelow(folder: string): string[] {
  return readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => join(folder, name))
}
