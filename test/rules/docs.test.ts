/**
 * docs/ matches the code: errors, limits, metrics, root fields, the specification, links and words. To
 * rewrite the tables made from code: WRITE_DOCS=1 npm test -- test/rules/docs.test.ts
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { buildSchema, parse, validate } from 'graphql'
import t from 'tap'
import { errorCodes } from '../../shared/errors.ts'
import { parseNdjsonRecord } from '../../shared/formats/ndjson.ts'
import { limits } from '../../shared/limits.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { operationRows } from '../specification/operations.ts'
import { proposalRows, ruleRows } from '../specification/proposals-and-rules.ts'
import { resourceRows } from '../specification/resources.ts'
import { idOf } from '../specification/row.ts'
import { serviceAndUrnRows } from '../specification/service-and-urns.ts'
import {
  clientCallTable,
  commandsTable,
  errorShapeTable,
  errorTable,
  limitTable,
  loadMovePicture,
  loadMoveTable,
  metricTable,
  sqlDialectTable,
  sqlProblemTable,
  tableIn
} from '../support/docs-tables.ts'
import {
  bannedIn,
  bannedPhrases,
  commentsOf,
  descriptionsOf,
  messagesOf,
  proseOf
} from '../support/style-words.ts'

/** The anchors that repository hosts usually generate for headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-')
  )

const read = (path: string): string => readFileSync(packagePath(path), 'utf8')

const pagesBelow = (folder: string): string[] =>
  readdirSync(packagePath(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? pagesBelow(path) : path.endsWith('.md') ? [path] : []
  })

const pages = pagesBelow('docs')
const topPages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].filter((path) =>
  existsSync(packagePath(path))
)

const generated: { page: string; table: string }[] = [
  { page: 'docs/errors.md', table: errorTable() },
  { page: 'docs/errors.md', table: errorShapeTable() },
  { page: 'docs/configuration.md', table: limitTable() },
  { page: 'docs/operations.md', table: metricTable() },
  { page: 'docs/command-line.md', table: await commandsTable() },
  { page: 'docs/architecture.md', table: loadMoveTable() },
  { page: 'docs/datahub.md', table: clientCallTable(false) },
  { page: 'docs/datahub.md', table: clientCallTable(true) },
  { page: 'docs/guides/sql.md', table: sqlDialectTable() },
  { page: 'docs/guides/sql.md', table: sqlProblemTable() }
]

for (const { page, table } of generated) {
  if (process.env.WRITE_DOCS === '1') {
    const found = tableIn(read(page), table)
    if (found !== null)
      writeFileSync(
        packagePath(page),
        read(page).replace(found, () => table)
      )
  }
  t.test(`${page} has the table ${table.slice(0, table.indexOf('\n'))} that the code makes`, async (t) => {
    t.equal(tableIn(read(page), table), table)
  })
}

t.test('docs/architecture.md has the picture of a load that the code makes', async (t) => {
  const page = 'docs/architecture.md'
  const picture = /^## The states of a load\n\n```mermaid\n([^]*?)\n```$/m
  if (process.env.WRITE_DOCS === '1')
    writeFileSync(
      packagePath(page),
      read(page).replace(picture, (text, old: string) => text.replace(old, () => loadMovePicture()))
    )
  t.equal(picture.exec(read(page))?.[1], loadMovePicture())
})

t.test('the generated tables hold every entry', async (t) => {
  const rowsOf = (table: string): number => table.split('\n').length - 2
  t.equal(rowsOf(errorTable()), Object.keys(errorCodes).length)
  t.equal(rowsOf(limitTable()), Object.keys(limits).length)
  t.equal(rowsOf(metricTable()), [...read('shared/platform/metrics.ts').matchAll(/'tributary_/g)].length)
  t.notMatch(limitTable(), /\| {2}\|/, 'every limit has its comment')
})

t.test('docs/loading.md has every limit of a load with its value, and codes that exist', async (t) => {
  const rows = (tableIn(read('docs/loading.md'), '| Limit | Value | Code | Effect |\n') ?? '')
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  const values = new Map(rows.map(([, name = '', value]) => [name, value]))
  const ofLoads = Object.entries(limits).filter(
    ([name]) => values.has(name) || /^(?:load|record|reject|upload|dbt)/.test(name)
  )
  t.ok(values.size > 10)
  t.strictSame(
    Object.fromEntries(values),
    Object.fromEntries(ofLoads.map(([name, value]) => [name, value.toLocaleString('en-US')]))
  )
  const codes = rows.map(([, , , code = '']) => code).filter((code) => code !== 'none')
  t.strictSame(
    codes.filter((code) => !(code in errorCodes)),
    []
  )
})

t.test('where a page names a limit after a number, this is the value of the limit', async (t) => {
  const units: { [unit: string]: number } = {
    KiB: 2 ** 10,
    MiB: 2 ** 20,
    GiB: 2 ** 30,
    s: 1_000,
    hours: 3_600,
    days: 86_400
  }
  const mention = /(\d[\d,]*)(?: (KiB|MiB|GiB|s|hours|days))?(?= )[^\d|()]*\(`(\w+)`\)/g
  const all = new Map<string, number>(Object.entries(limits))
  const mentions = pages.flatMap((page) =>
    [...read(page).matchAll(mention)].map(([, value = '', unit, name = '']) => ({
      page,
      name,
      value: Number(value.replaceAll(',', '')) * (unit === undefined ? 1 : (units[unit] ?? 1))
    }))
  )
  const ofLimits = mentions.filter(({ name }) => all.has(name))
  t.ok(ofLimits.length > 15, `${ofLimits.length} mentions`)
  t.strictSame(
    ofLimits.filter(({ name, value }) => value !== all.get(name)),
    []
  )
})

t.test('docs/api.md names every root field, and no other', async (t) => {
  const schema = buildSchema(read('api/graphql/schema.graphql'))
  const named = (head: string): string[] => {
    const table = tableIn(read('docs/api.md'), `${head}\n`) ?? ''
    return table
      .split('\n')
      .slice(2)
      .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
      .sort()
  }
  t.strictSame(named('| Query | Gives |'), Object.keys(schema.getQueryType()?.getFields() ?? {}).sort())
  t.strictSame(named('| Mutation | Does |'), Object.keys(schema.getMutationType()?.getFields() ?? {}).sort())
})

t.test('examples in the docs are what the program reads', async (t) => {
  const schema = buildSchema(read('api/graphql/schema.graphql'))
  const blocks = (page: string, language: string): string[] =>
    [...read(page).matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(
      ([, block = '']) => block
    )
  for (const page of [...pages, ...topPages]) {
    for (const block of blocks(page, 'graphql'))
      t.strictSame(
        validate(schema, parse(block)).map(({ message }) => message),
        [],
        `${page}: ${block.slice(0, 60)}`
      )
    for (const block of blocks(page, 'json'))
      t.doesNotThrow(
        () => {
          for (const line of block.trim().startsWith('{"') ? block.trim().split('\n') : [block])
            JSON.parse(line)
        },
        `${page}: ${block.slice(0, 60)}`
      )
  }
  const lines = /<<'END'\n([^]*?)\nEND\n/.exec(read('docs/loading.md'))?.[1]?.split('\n') ?? []
  t.equal(lines.length, 5)
  for (const [index, line] of lines.entries())
    t.ok(parseNdjsonRecord(line, index + 1).changes.length > 0, line)
})

t.test('docs/specification.md and the tests name the same rows', async (t) => {
  const proved = [
    ...serviceAndUrnRows.map(({ title }) => ({ title, file: 'service-and-urns.ts' })),
    ...resourceRows.map(({ title }) => ({ title, file: 'resources.ts' })),
    ...operationRows.map(({ title }) => ({ title, file: 'operations.ts' })),
    ...[...proposalRows, ...ruleRows].map(({ title }) => ({ title, file: 'proposals-and-rules.ts' }))
  ]
  const rows = read('docs/specification.md')
    .split('\n')
    .filter((line) => /^\| S\d/.test(line))
    .map((line) => line.split(' | '))
  const ids = rows.map(([id = '']) => id.slice(2))
  t.equal(new Set(ids).size, ids.length, 'every row has an id of its own')
  t.strictSame(
    ids.toSorted(),
    proved.map(({ title }) => idOf(title)).sort(),
    'every row has a test, every test a row'
  )
  const titles = rows.map((cells) => (cells.at(-1) ?? '').replace(/ \|$/, ''))
  t.strictSame(
    titles.toSorted(),
    proved.map(({ title, file }) => `\`${file}\`: ${title}`).sort(),
    'every row names its test by file and title'
  )
  for (const [id = '', , lives = ''] of rows) {
    const missing = [...lives.matchAll(/`([^`]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(packagePath(path)))
    t.strictSame(missing, [], `${id.slice(2)} lives where it says`)
  }
})

/** The targets of the links of a page, except those to other hosts. */
const linksOf = (page: string): { target: string; file: string; anchor: string | undefined }[] =>
  [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^https?:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#')
      return { target, file: path === '' ? page : normalize(join(dirname(page), path)), anchor }
    })

t.test('links within the docs lead somewhere', async (t) => {
  for (const page of [...pages, ...topPages]) {
    const broken = linksOf(page).filter(
      ({ file, anchor }) =>
        !existsSync(packagePath(file)) || (anchor !== undefined && !anchorsOf(read(file)).includes(anchor))
    )
    t.strictSame(
      broken.map(({ target }) => target),
      [],
      page
    )
  }
})

t.test('every page is reached from docs/README.md', async (t) => {
  const reached = new Set(['docs/README.md'])
  for (const page of reached)
    for (const { file } of linksOf(page)) if (pages.includes(file)) reached.add(file)
  t.strictSame(
    pages.filter((page) => !reached.has(page)),
    []
  )
  const decisions = read('docs/decisions/README.md')
  t.strictSame(
    pages
      .filter((page) => /^docs\/decisions\/\d/.test(page))
      .filter((page) => !decisions.includes(`](${page.slice(15)})`)),
    [],
    'every decision is listed'
  )
})

t.test('every decision says context, choice, alternatives and what would change our mind', async (t) => {
  for (const page of pages.filter((path) => /^docs\/decisions\/\d/.test(path))) {
    const text = read(page)
    const parts = ['**Context.**', '**Choice.**', '**Alternatives.**', '**What would change our mind.**']
    t.strictSame(
      parts.filter((part) => !text.includes(part)),
      [],
      page
    )
    t.ok(text.split(/\s+/).length < 400, `${page} fits on a page`)
  }
})

t.test('the words of the glossary are kept', async (t) => {
  /**
   * Words that we do not use for our own things, and the places where they name something of somebody else.
   */
  const forbidden: { word: RegExp; but?: RegExp }[] = [
    {
      word: /\bbatch(?:es)?\b/i,
      but: /ingestProposalBatch|batchSetDomain|lineage\/batch|batch endpoint|"processingType": "BATCH"/
    },
    { word: /\bmembership\b/i, but: /association/ },
    { word: /\bghosts?\b|\btraversal\b|\bcrawl/i },
    { word: /\bparent asset|child asset/i }
  ]
  for (const page of [...pages, ...topPages].filter((path) => path !== 'docs/glossary.md')) {
    const found = read(page)
      .split('\n')
      .flatMap((line, index) =>
        forbidden
          .filter(({ word, but }) => word.test(line) && !(but?.test(line) ?? false))
          .map(() => `${index + 1}: ${line.slice(0, 120)}`)
      )
    t.strictSame(found, [], page)
  }
})

t.test('docs, schema, messages and comments keep to docs/style.md', async (t) => {
  const filesBelow = (folder: string, ending: string): string[] =>
    readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith(ending))
      .map((path) => `${folder}/${path}`)
  const code = ['api', 'bin', 'dev', 'shared', 'web/src', 'worker'].flatMap((folder) => [
    ...filesBelow(folder, '.ts'),
    ...filesBelow(folder, '.tsx')
  ])
  const prose = [...pages, ...topPages, ...filesBelow('shared', 'README.md')].filter(
    (path) => path !== 'docs/style.md'
  )
  t.ok(code.length > 300 && prose.length > 40)
  for (const page of prose) t.strictSame(bannedIn(proseOf(read(page))), [], page)
  t.strictSame(bannedIn(descriptionsOf(read('api/graphql/schema.graphql'))), [], 'the GraphQL schema')
  for (const path of code) {
    const found = [...messagesOf(path), ...commentsOf(path)]
    const faults = bannedIn(found)
    if (faults.length > 0) t.strictSame(faults, [], path)
  }
})

t.test('docs/style.md names a phrase for every rule of the word check, and the check finds it', async (t) => {
  const table = proseOf(read('docs/style.md')).map(({ text }) => text)
  const unnamed = bannedPhrases.filter(({ pattern }) => !table.some((line) => pattern.test(line)))
  t.strictSame(
    unnamed.map(({ pattern }) => pattern.source),
    []
  )
})

t.test(
  'each stop of the walks in docs/architecture.md is a function that an earlier stop imports',
  async (t) => {
    const walks = readFileSync(packagePath('docs/architecture.md'), 'utf8')
      .split(/^##+ /m)
      .filter((section) => /^1\. `/m.test(section))
    t.equal(walks.length, 2)
    for (const walk of walks) {
      // The chain of imports begins again in each process.
      const processes = walk.split(/^In (?:an API|a worker) process/m).slice(1)
      const stops = processes.map((part) => [...part.matchAll(/^(\d+)\. (?:`([^`]+)` `([^`]+)`)?/gm)])
      t.ok(stops.flat().length >= 10 && stops.flat().length <= 15, `${stops.flat().length} stops`)
      t.strictSame(
        stops.flat().map(([, number]) => Number(number)),
        stops.flat().map((_, index) => index + 1)
      )
      for (const ofProcess of stops) {
        const imported = new Set<string>()
        for (const [index, [line, , path = '', name = '']] of ofProcess.entries()) {
          const source = existsSync(packagePath(path)) ? readFileSync(packagePath(path), 'utf8') : ''
          t.match(source, new RegExp(`^export (?:async )?(?:function\\*?|const) ${name}\\b`, 'm'), line)
          t.ok(index === 0 || imported.has(path), `an earlier stop imports ${path}`)
          for (const [, specifier = ''] of source.matchAll(/from '(\.[^']+)'/g))
            imported.add(normalize(join(dirname(path), specifier)))
        }
      }
    }
  }
)
