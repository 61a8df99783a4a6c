/** Every block for the shell in the docs is run by `npm run how-to`, or says why it is not. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { docPages } from '../support/doc-pages.ts'
import { fencesOf, isForShell } from '../support/fences.ts'

const fences = docPages.flatMap(fencesOf)

/** Pages that no test runs yet. */
const notYet = ['docs/runbook.md']

/** Pages that a test of test/how-to runs. */
const run = new Set(
  readdirSync(packagePath('test/how-to'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => [
      ...readFileSync(packagePath(join('test/how-to', name)), 'utf8').matchAll(
        /'(README\.md|docs\/[\w/-]+\.md)'/g
      )
    ])
    .map(([, page = '']) => page)
)

t.test('a block for the shell is run, or its page says why it is not', async (t) => {
  const forShell = fences.filter(isForShell)
  const [ran, marked, neither] = [
    forShell.filter(({ page, marks }) => run.has(page) && !marks.has('not run')),
    forShell.filter(({ marks }) => marks.has('not run')),
    forShell.filter(({ page, marks }) => !run.has(page) && !notYet.includes(page) && !marks.has('not run'))
  ]
  t.same(
    neither.map(({ page, line }) => `${page}:${line}`),
    [],
    'run by a test of test/how-to, or marked <!-- not run: REASON -->'
  )
  t.comment(`${ran.length} blocks run, on ${run.size} pages; ${marked.length} are marked:`)
  for (const { page, line, marks } of marked) t.comment(`${page}:${line}: ${marks.get('not run') ?? ''}`)
})

t.test(
  'a page whose files read the address and the token from the environment says how to export them',
  async (t) => {
    const readers = fences.filter(
      ({ text, marks }) =>
        marks.has('file') && /\$\{TRIBUTARY_URL\}|environ\["TRIBUTARY_URL"\]|\$TRIBUTARY_URL\//.test(text)
    )
    t.ok(readers.length > 3)
    for (const page of new Set(readers.map((fence) => fence.page)))
      t.match(
        readFileSync(packagePath(page), 'utf8'),
        /`export TRIBUTARY_URL="\$\(tributary url\)" TRIBUTARY_TOKEN="\$\(cat \.data\/token\)"`/,
        page
      )
  }
)

t.test('a mark says what it must', async (t) => {
  for (const { page, line, marks } of fences)
    for (const [word, more] of marks) {
      const isRight =
        word === 'output'
          ? more === ''
          : word === 'exit'
            ? /^[1-9]\d*$/.test(more)
            : more.split(/\s+/).length >= (word === 'not run' ? 3 : 1) && more !== ''
      t.ok(isRight, `${page}:${line}: ${word}`)
    }
})

t.test('a page that is run has something to run', async (t) => {
  for (const page of run) {
    t.ok(docPages.includes(page), page)
    t.ok(
      fencesOf(page).some((fence) => isForShell(fence) && !fence.marks.has('not run')),
      page
    )
  }
})
