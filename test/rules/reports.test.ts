/**
 * The page about public reports lists each trial once, with the test that holds it. To rewrite its table:
 * WRITE_DOCS=1 npm test -- test/rules/reports.test.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { allReports, reportTable, trials } from '../reports/all-trials.ts'

const page = packagePath('test/reports/README.md')
/** From the first row of the table to its last. */
const tablePattern = /^\| Report .*(?:\n\|.*)*/m

t.test('every row that names a test names one that exists, and every trial has its row', (t) => {
  const text = readFileSync(page, 'utf8')
  if (process.env.WRITE_DOCS === '1')
    writeFileSync(
      page,
      text.replace(tablePattern, () => reportTable())
    )
  else t.equal(tablePattern.exec(text)?.[0], reportTable(), 'the table is the one made from the trials')
  t.end()
})

t.test('no report and no guarantee is listed twice', (t) => {
  const names = Object.values(trials)
    .flat()
    .map(({ name }) => name)
  t.same([...new Set(names)], names)
  t.same([...new Set(allReports)], allReports)
  t.end()
})

t.test('at least 60 reports are listed, and the page says how many', (t) => {
  t.ok(allReports.length >= 60)
  t.match(readFileSync(page, 'utf8'), `${allReports.length} reports`)
  t.end()
})
