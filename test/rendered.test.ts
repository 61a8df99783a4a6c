/**
 * What the command line shows to a person and to a program, held as files: tables and progress, for narrow and wide terminals and
 * for pipes. To write them again: WRITE_RENDERED=1 npm test -- test/rendered.test.ts
 */
import t, { type Test } from 'tap'
import { createPace, type Pace } from '../bin/client/pace.ts'
import { applyingLine, sendingLine } from '../bin/client/progress-line.ts'
import { showsColour } from '../bin/colour.ts'
import { ageOf } from '../bin/duration.ts'
import { harmless, printable } from '../bin/printable.ts'
import { cutEnd, cutMiddle, widthOf } from '../bin/text-width.ts'
import { migrate } from '../shared/db/migrate.ts'
import { domainUrn } from '../shared/urn/kinds.ts'
import { apply } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { matchesFile } from './support/rendered.ts'
import { runCommand, type Outcome } from './support/run-command.ts'
import { withServer } from './support/server.ts'
import { withStandIn } from './support/stand-in-server.ts'

const widths = [40, 80, 120, 200]

/** What a command shows in terminals of several widths without colours, in one with them, and in a pipe. */
async function shows(
  t: Test,
  name: string,
  run: (given: { isTty: boolean; columns?: number; env: Record<string, string> }) => Promise<Outcome>,
  steady: (line: string) => string = (line) => line
): Promise<void> {
  const seen: string[] = []
  for (const columns of widths) {
    const { out, err } = await run({ isTty: true, columns, env: { NO_COLOR: '1' } })
    for (const line of out) {
      t.ok(widthOf(line) <= columns, `${widthOf(line)} of ${columns} columns: ${line}`)
      t.notMatch(line, /[\p{Cc}\p{Cf}]/u, 'nothing can steer the terminal')
    }
    seen.push(`--- ${columns} columns`, ...[...out, ...err].map(steady))
  }
  const coloured = await run({ isTty: true, columns: 120, env: {} })
  seen.push('--- 120 columns, with colours', ...coloured.out.map(steady))
  const piped = await run({ isTty: false, env: {} })
  for (const line of piped.out) t.notMatch(line.replaceAll('\t', ''), /[\p{Cc}\p{Cf}]/u)
  seen.push('--- a pipe', ...piped.out.map(steady).map((line) => line.replaceAll('\t', '<tab>')))
  matchesFile(t, name, seen)
}

const hash = 'b5e95fce839e7d78151ed7e0a7420d84'
const proposal = (entityType: string, entityUrn: string, aspectName: string, value: object): object => ({
  entityType,
  entityUrn,
  changeType: 'UPSERT',
  aspectName,
  aspect: { value: JSON.stringify(value), contentType: 'application/json' }
})
const table = (name: string, platform = 'snowflake'): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`

const described: readonly object[] = [
  proposal('container', `urn:li:container:${hash}`, 'containerProperties', { name: 'ANALYTICS' }),
  proposal('container', `urn:li:container:${hash}`, 'dataPlatformInstance', {
    platform: 'urn:li:dataPlatform:snowflake'
  }),
  proposal('chart', 'urn:li:chart:(looker,dashboard_elements.4711)', 'chartInfo', {
    title: 'Monthly revenue by region',
    description: '',
    lastModified: {
      created: { time: 0, actor: 'urn:li:corpuser:a' },
      lastModified: { time: 0, actor: 'urn:li:corpuser:a' }
    }
  }),
  proposal('dashboard', 'urn:li:dashboard:(powerbi,reports.0b8f2c1e-77aa)', 'dashboardInfo', {
    title: '売上ダッシュボード 📊',
    description: '',
    charts: [],
    lastModified: {
      created: { time: 0, actor: 'urn:li:corpuser:a' },
      lastModified: { time: 0, actor: 'urn:li:corpuser:a' }
    }
  }),
  proposal('dataset', table('shop.public.orders'), 'datasetProperties', {
    name: 'orders',
    customProperties: {}
  }),
  proposal('dataset', table('s3://lake/0f3a9c', 's3'), 'datasetProperties', {
    name: 'Événements café',
    customProperties: {}
  }),
  proposal(
    'dataset',
    table('shop.public.a_very_long_name_of_a_staging_table_that_nobody_can_remember_v2'),
    'status',
    {
      removed: false
    }
  ),
  proposal('dataset', table('evil', 'hive'), 'datasetProperties', {
    name: 'red\u001B[31m\u009B2J\u202Ealert\r\nnext',
    customProperties: {}
  }),
  proposal('domain', 'urn:li:domain:7d9a3c52-5b1e-4f6e-9a60-2f1f0c8b1d33', 'domainProperties', {
    name: 'Sales'
  }),
  proposal('dataset', table('shop.public.orders'), 'domains', {
    domains: ['urn:li:domain:7d9a3c52-5b1e-4f6e-9a60-2f1f0c8b1d33']
  }),
  proposal('tag', 'urn:li:tag:9f8e', 'tagProperties', { name: 'Personal data' }),
  proposal('corpGroup', 'urn:li:corpGroup:g-17', 'corpGroupInfo', {
    displayName: 'Data platform team',
    admins: [],
    members: [],
    groups: []
  })
]

t.test('names, not what is in URNs', async (t) => {
  const { url, token } = await withServer(t, { withWorker: true })
  const env = { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token }
  const loaded = await runCommand(['load', '-', '--format', 'mcp'], { env, input: JSON.stringify(described) })
  t.match(loaded, { code: 0 }, loaded.err.join('\n'))
  for (const [name, parent] of [
    ['Orders', 'Sales'],
    ['Returned goods and what became of them', 'Sales/Orders']
  ] as const)
    await runCommand(['domain', 'create', name, '--in', parent, '--id', name.slice(0, 6)], { env })

  const run =
    (...args: string[]) =>
    (given: { isTty: boolean; columns?: number; env: Record<string, string> }): Promise<Outcome> =>
      runCommand(args, { ...given, env: { ...env, ...given.env } })
  const types = 'DATASET,CHART,DASHBOARD,CONTAINER,TAG,CORP_GROUP,DOMAIN'
  await shows(t, 'search', run('search', '*', '--types', types))
  await shows(t, 'domain-tree', run('domain', 'tree'))

  const rules = t.testdir({
    'rules.json': JSON.stringify([
      { platform: 'snowflake', name: 'shop.*', domain: 'Sales/Orders' },
      { namespace: 'airflow-*', domain: 'Sales' }
    ])
  })
  await shows(t, 'domain-rules-preview', run('domain', 'rules', 'preview', `${rules}/rules.json`))
  t.match(await run('domain', 'rules', 'set', `${rules}/rules.json`)({ isTty: false, env: {} }), { code: 0 })
  await shows(t, 'domain-rules-list', run('domain', 'rules', 'list'))

  t.test('and --json stays as it was', async (t) => {
    const { out } = await run(
      'search',
      '*',
      '--types',
      'CHART,CONTAINER,DOMAIN',
      '--json'
    )({ isTty: true, env: {} })
    const entities = out.map((line): unknown => JSON.parse(line))
    t.ok(
      out.every((line) => /^\{"urn":"[^"]+","type":"[A-Z]+","name":"[^"]+"\}$/.test(line)),
      out.join('\n')
    )
    t.match(
      entities.find((entity) => JSON.stringify(entity).includes('4711')),
      { type: 'CHART', name: 'dashboard_elements.4711' }
    )
  })
})

t.test('loads', async (t) => {
  const minute = 60_000
  const load = (at: number, id: string, more: object): object => ({
    id: `${id}-0000-4000-8000-000000000000`,
    state: 'done',
    mode: 'merge',
    error: null,
    createdAt: Date.now() - at,
    source: 'nightly',
    counts: { received: 1_234_567, applied: 1_200_000, unchanged: 34_567, rejected: 0 },
    ...more
  })
  const loads = [
    load(5_500, '0b8f2c1e', { state: 'applying', source: 'spreadsheet' }),
    load(90 * minute + 30_000, '77aa0000', { dryRun: true }),
    load(40 * 60 * minute, '12ab34cd', {
      mode: 'snapshot',
      source: 'warehouse of the finance department, eu-central-1',
      counts: { received: 12, applied: 5, unchanged: 0, rejected: 7 }
    }),
    load(1_000 * 60 * minute, 'ffff0000', { state: 'failed', source: '夜間バッチ' }),
    load(9_000 * 60 * minute, 'eeee0000', {
      state: 'cancelled',
      mode: 'undo',
      source: 'a\u001B]0;title\u0007b'
    })
  ]
  const url = await withStandIn(t, (_request, response) => response.end(JSON.stringify({ loads })))
  await shows(
    t,
    'load-list',
    (given) => runCommand(['load', 'list', '--url', url, '--token', 'x'], given),
    (line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'TIME')
  )

  const rejects = [
    { line: 4, code: 'BAD_REQUEST', message: 'upstream is missing', field: 'upstream', record: 'x' },
    {
      line: 12_345,
      code: 'MISSING_REFERENCE',
      message: 'no\u001B[2Jthing',
      field: 'urn',
      record: '\u001B[2J'
    }
  ]
  const text = rejects.map((reject) => `${JSON.stringify(reject)}\n`).join('')
  const other = await withStandIn(t, (_request, response) => response.end(text))
  const args = ['load', 'rejects', '00000000-0000-4000-8000-000000000000', '--url', other, '--token', 'x']
  t.strictSame((await runCommand(args)).out, text.trimEnd().split('\n'), 'JSON in a pipe')
  t.strictSame((await runCommand([...args, '--json'], { isTty: true })).out, text.trimEnd().split('\n'))
  t.strictSame((await runCommand(args, { isTty: true, env: { NO_COLOR: '1' } })).out, [
    'line 4: BAD_REQUEST: upstream is missing',
    'line 12345: MISSING_REFERENCE: no [2Jthing'
  ])
})

t.test('tokens, found again by the beginning of their ids', async (t) => {
  const { db, url } = await withDatabase(t)
  await migrate(db)
  const env = { DATABASE_URL: url }
  await apply(db, { kind: 'createDomain', domainUrn: domainUrn('7d9a3c52'), name: 'Sales' })
  const create = async (...args: string[]): Promise<void> => {
    t.equal((await runCommand(['token', 'create', ...args], { env })).code, 0)
  }
  await create('--name', 'ops', '--scopes', 'admin')
  await create('--name', 'sales team', '--domain', 'Sales', '--expires', '2099-01-31')
  await create('--name', 'a job with a name so long that nobody reads it to the end', '--scopes', 'read')
  const { out } = await runCommand(['token', 'list'], { env })
  const ids = out.map((line) => line.slice(0, 36))
  const known = new Map(ids.map((id, at) => [id.slice(0, 8), `${at + 1}1111111`]))
  const steady = (line: string): string =>
    line
      .replace(
        /^(\S{8})(-\S{27})?/,
        (_all, short: string, rest?: string) =>
          `${known.get(short) ?? short}${rest === undefined ? '' : '-1111-4111-8111-111111111111'}`
      )
      .replace(/…\w{4}\b/, '…hint')
  await shows(
    t,
    'token-list',
    (given) => runCommand(['token', 'list'], { ...given, env: { ...env, ...given.env } }),
    steady
  )

  const [id = ''] = ids
  t.match(await runCommand(['token', 'revoke', 'zz'], { env }), { code: 1, err: [/No token has this id/] })
  t.match(await runCommand(['token', 'revoke', ''], { env }), { code: 1 })
  t.match(await runCommand(['token', 'revoke', id.slice(0, 8)], { env }), { code: 0, out: [new RegExp(id)] })
  t.match(await runCommand(['token', 'revoke', id.slice(0, 3)], { env }), { code: 1, err: [/is too short/] })
  t.match(await runCommand(['token', 'revoke', '0000'], { env }), {
    code: 1,
    err: ['No token id begins with 0000.']
  })
  const revoked = (await runCommand(['token', 'list', '--json'], { env })).out.filter(
    (line) => !line.includes('"revokedAt":null')
  )
  t.equal(revoked.length, 1, 'nothing else was revoked')
})

/** A pace at the given speed, after 10 s. */
function paceOf(perSecond: number, done: number): Pace {
  let time = 0
  const pace = createPace(() => time)
  for (; time <= 10_000; time += 500) pace.reached(done - (perSecond * (10_000 - time)) / 1_000)
  time = 10_000
  return pace
}

t.test('progress, with the time that is left', async (t) => {
  const seen: string[] = []
  const show = (columns: number | null, line: string): void => {
    if (columns !== null) t.ok(widthOf(line) <= columns, `${widthOf(line)} of ${columns}: ${line}`)
    seen.push(line)
  }
  for (const columns of [12, 20, 39, 59, 79, 119, null]) {
    seen.push(`--- ${columns ?? 'a log, without'} columns`)
    const file = { name: 'exports/2026/11/lineage-of-the-warehouse.ndjson', totalBytes: 1_250_000_000 }
    show(
      columns,
      sendingLine(
        { ...file, bytes: 0, lines: 0 },
        createPace(() => 0),
        columns
      )
    )
    show(
      columns,
      sendingLine({ ...file, bytes: 480_000_000, lines: 3_400_000 }, paceOf(12_300_000, 480_000_000), columns)
    )
    show(
      columns,
      sendingLine(
        { ...file, name: 'a.csv', bytes: 1_250_000_000, lines: 9 },
        paceOf(1e6, 1_250_000_000),
        columns
      )
    )
    show(
      columns,
      sendingLine(
        { ...file, name: '夜間バッチ', totalBytes: null, bytes: 5e6, lines: null },
        paceOf(1e6, 5e6),
        columns
      )
    )
    const counts = { received: 2_000_000, applied: 1_200_000, unchanged: 34_567, rejected: 0 }
    show(
      columns,
      applyingLine(
        { ...counts, applied: 0, unchanged: 0 },
        createPace(() => 0),
        columns
      )
    )
    show(columns, applyingLine(counts, paceOf(41_234, 1_234_567), columns))
    show(columns, applyingLine({ ...counts, rejected: 12 }, paceOf(120, 1_234_579), columns))
    show(columns, applyingLine({ ...counts, received: 1_234_567 }, paceOf(41_234, 1_234_567), columns))
  }
  matchesFile(t, 'progress', seen)
})

t.test('the time that is left follows what happens now', async (t) => {
  let time = 0
  const pace = createPace(() => time)
  const go = (perSecond: number, seconds: number, from: number): number => {
    for (let at = 1; at <= seconds; at += 1) {
      time += 1_000
      pace.reached(from + perSecond * at)
    }
    return from + perSecond * seconds
  }
  t.equal(pace.leftMs(100), null, 'nothing is known at first')
  pace.reached(0)
  t.equal(pace.perSecond(), null)
  const done = go(1_000, 60, 0)
  t.equal(Math.round(pace.perSecond() ?? 0), 1_000)
  t.equal(Math.round((pace.leftMs(done + 5_000) ?? 0) / 1_000), 5)
  go(10, 40, done)
  t.ok((pace.perSecond() ?? 0) < 100, 'the fast minute is forgotten')
  time += 600_000
  t.ok((pace.leftMs(1e9) ?? 0) > 3_600_000, 'a work that stands still takes longer and longer')
  pace.reached(5)
  t.equal(pace.perSecond(), null, 'an upload that begins again')
})

t.test('width is what a terminal shows', async (t) => {
  for (const [text, width] of [
    ['orders', 6],
    ['注文', 4],
    ['e\u0301te\u0301', 3],
    ['📊', 2],
    ['👩‍👩‍👧', 2],
    ['ﾊﾝｶｸ', 4],
    ['🇩🇪', 2],
    ['한글', 4],
    ['', 0]
  ] as const)
    t.equal(widthOf(text), width, text)
  t.equal(cutMiddle('shop.public.orders', 11), 'shop.…rders')
  t.equal(cutMiddle('注文テーブル', 7), '注…ル', 'a wide character is not halved')
  t.equal(cutMiddle('e\u0301e\u0301e\u0301e\u0301', 3), 'e\u0301…e\u0301', 'an accent stays with its letter')
  t.equal(cutMiddle('📊📊📊', 4), '📊…')
  t.equal(cutMiddle('abc', 3), 'abc')
  t.equal(cutMiddle('abc', 1), '…')
  t.equal(cutMiddle('abc', 0), '')
  t.equal(cutEnd('注文テーブル', 6), '注文…')
  t.equal(cutEnd('abc', 0), '')
  for (const width of [1, 2, 3, 5, 8, 13])
    t.ok(widthOf(cutMiddle('売上📊ダッシュe\u0301ボード', width)) <= width)
})

t.test('nothing that steers a terminal is left in a text or a line', async (t) => {
  for (const evil of [
    '\u001B[2J',
    '\u001B]0;t\u0007',
    '\u009B31m',
    '\r',
    '\u202E',
    '\u2028',
    '\u0000',
    '\u061C'
  ])
    t.notMatch(printable(`a${evil}b`), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  t.equal(
    harmless('\u001B[31mred\u001B[39m\tx\u001B[2J\u001B]0;t\u0007'),
    '\u001B[31mred\u001B[39m\tx [2J ]0;t '
  )
  t.equal(printable('a\uD800b'), 'a\uFFFDb')
})

t.test('colours are for people', async (t) => {
  const [terminal, pipe] = [{ isTTY: true }, {}]
  t.equal(showsColour(terminal, {}), true)
  t.equal(showsColour(pipe, {}), false)
  t.equal(showsColour(terminal, { NO_COLOR: '1' }), false)
  t.equal(showsColour(terminal, { NO_COLOR: '' }), true)
  t.equal(showsColour(terminal, { TERM: 'dumb' }), false)
  t.equal(showsColour(pipe, { FORCE_COLOR: '1' }), true)
  t.equal(showsColour(pipe, { FORCE_COLOR: '' }), true)
  t.equal(showsColour(terminal, { FORCE_COLOR: '0' }), false)
  t.equal(showsColour(terminal, { FORCE_COLOR: '1', NO_COLOR: '1' }), true)
  t.equal(showsColour(pipe, { FORCE_COLOR: '1', TERM: 'dumb' }), true)
})

t.test('an age is in the unit that says enough', async (t) => {
  const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
  for (const [ms, text] of [
    [-5 * second, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [119 * minute, '119m'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [400 * day, '400d']
  ] as const)
    t.equal(ageOf(ms), text)
})
