/**
 * `tributary load --from-marquez`: all events of another server are loaded once, whatever happens while they
 * are read.
 */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { query } from '../shared/db/query.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { packageRoot } from '../shared/platform/paths.ts'
import { marquez, type Stored } from './support/marquez.ts'
import { contentFrom, eventAt } from './support/openlineage.ts'
import { runCommand } from './support/run-command.ts'
import { skipUnless } from './support/skip.ts'
import { withServer } from './support/server.ts'
import { withStandIn } from './support/stand-in-server.ts'

const eventOf = (number: number): JsonObject =>
  eventAt(number, {
    eventType: 'COMPLETE',
    run: { runId: `c5b1c3a4-0000-7000-8000-${String(number).padStart(12, '0')}` },
    job: { namespace: 'nightly', name: `copy.table_${number % 20}` },
    inputs: [{ namespace: 'postgres://db:5432', name: `shop.public.in_${number % 20}` }],
    outputs: [{ namespace: 'postgres://db:5432', name: `shop.public.out_${number % 20}` }]
  })

t.test('events of another server', async (t) => {
  const target = await withServer(t)
  const events = Array.from({ length: 250 }, (_, index) => eventOf(index))
  const folder = t.testdir({})
  const run = (from: string, state: string, ...more: string[]) =>
    runCommand(['load', '--from-marquez', from, '--state', join(folder, state), ...more], {
      env: { TRIBUTARY_URL: target.url, TRIBUTARY_TOKEN: target.token }
    })
  const kept = async (): Promise<number> =>
    (await target.rest({ url: '/api/v1/events/lineage?limit=1' })).body.totalCount

  await t.test('are replayed page by page, also through an error and a cut connection', async (t) => {
    const stored: Stored = { events: events.slice(0, 220), asked: [] }
    const url = await withStandIn(
      t,
      marquez(stored, (_request, response) => {
        if (stored.asked.length === 2) response.writeHead(500).end('{"code":500}')
        else if (stored.asked.length === 4) response.socket?.destroy()
        else return false
        return true
      })
    )
    const { code, out, err } = await run(url, 'a.json')
    t.equal(code, 0, err.join('\n'))
    t.strictSame(out, ['220 events read, 220 taken, 0 refused.'])
    t.equal(await kept(), 220)
    const again = err.filter((line) => line.includes('Trying again'))
    t.strictSame(
      again[0],
      `The server at ${new URL(url).origin} answered with status 500. Trying again in 1 s.`
    )
    t.equal(again.length, 2)

    stored.events.push(...events.slice(220, 240))
    stored.asked.length = 10
    const later = await run(url, 'a.json')
    t.strictSame(later.out, ['20 events read, 20 taken, 0 refused.'], 'the next run reads only what is new')
    t.match(later.err, [/Continuing behind 220 events/])
    t.equal(await kept(), 240)
  })

  await t.test('that come while they are read are not missed, wherever they stand', async (t) => {
    const stored: Stored = { events: events.slice(100, 240), asked: [] }
    const url = await withStandIn(
      t,
      marquez(stored, () => {
        if (stored.asked.length === 2) stored.events.push(eventOf(5), eventOf(1_000), eventOf(50))
        return false
      })
    )
    const before = await kept()
    const { code, err } = await run(url, 'b.json')
    t.equal(code, 0, err.join('\n'))
    t.match(err.join('\n'), /all are read again/)
    t.equal(await kept(), before + 1, 'those that were here are not kept twice')
  })

  await t.test('keep every digit of large whole numbers', async (t) => {
    const sent = JSON.stringify({ events: [eventOf(3_000)], totalCount: 1 }).replace(
      '"producer":',
      '"snapshotId":3821550127947089009,"producer":'
    )
    const url = await withStandIn(t, (request, response) => {
      response.setHeader('content-type', 'application/json')
      const isBehind = !request.url?.includes('offset=0')
      response.end(isBehind ? '{"events":[],"totalCount":1}' : sent)
    })
    const { code, err } = await run(url, 'g.json')
    t.equal(code, 0, err.join('\n'))
    const [kept] = await query<{ text: string }>(
      target.db,
      `select event::text as text from openlineage_event where event::text like '%snapshotId%'`
    )
    t.match(kept?.text, /"snapshotId":3821550127947089009,/)
  })

  await t.test('that are refused are named, and the others are taken', async (t) => {
    const wrong = { ...eventOf(1), eventTime: 'soon' }
    const url = await withStandIn(t, marquez({ events: [eventOf(2_000), wrong], asked: [] }))
    const { code, out, err } = await run(url, 'c.json')
    t.equal(code, 2)
    t.strictSame(out, ['2 events read, 1 taken, 1 refused.'])
    t.match(err, [/^Event 2: eventTime must be/])
  })

  await t.test('are loaded except for one that cannot be read', async (t) => {
    const texts = [3_000, 3_001, 3_002, 3_003, 3_004].map((index) => JSON.stringify(eventOf(index)))
    texts[2] = `{"eventTime": ${texts[2]}`
    const url = await withStandIn(t, (request, response) => {
      const asked = new URL(request.url ?? '/', 'http://any').searchParams
      const offset = Number(asked.get('offset'))
      const page = texts.slice(offset, offset + Number(asked.get('limit')))
      response.setHeader('content-type', 'application/json')
      response.end(`{"events":[${page.join(',')}],"totalCount":5}`)
    })
    const { code, out, err } = await run(url, 'h.json')
    t.equal(code, 2)
    t.strictSame(out, ['5 events read, 4 taken, 1 refused.'])
    t.match(err, [/^Event 3: .*JSON/])
  })

  await t.test('stop when a server is gone, and continue from there', async (t) => {
    const stored: Stored = { events: events.slice(0, 150), asked: [] }
    const url = await withStandIn(
      t,
      marquez(stored, (_request, response) => {
        if (stored.asked.length !== 2) return false
        response.writeHead(503).end()
        return true
      })
    )
    const { code, err } = await run(url, 'd.json', '--retry-for', '0')
    t.equal(code, 4)
    t.match(err.at(-1), /100 events were sent\. Run the same command to continue/)
    const next = await run(url, 'd.json', '--json')
    t.match(JSON.parse(next.out[0] ?? ''), { read: 50, taken: 50, refused: 0, offset: 150 })
  })

  await t.test('of a Tributary make the same catalog', async (t) => {
    const other = await withServer(t)
    const { code, out } = await runCommand(
      [
        'load',
        '--from-marquez',
        `${target.url}/api/v1`,
        '--marquez-token',
        target.token,
        '--state',
        join(folder, 'e.json')
      ],
      { env: { TRIBUTARY_URL: other.url, TRIBUTARY_TOKEN: other.token } }
    )
    t.equal(code, 0)
    t.match(out, [/0 refused/])
    t.strictSame(await contentFrom(other.db), await contentFrom(target.db))
  })

  await t.test('need options and a server that make sense, and the error says what is wrong', async (t) => {
    const elsewhere = await withStandIn(t, (_request, response) => response.end('<html>'))
    t.match(await run(elsewhere, 'f.json'), { code: 1, err: [/Is this a Marquez server/] })
    t.match(await run('nowhere', 'f.json'), { code: 1, err: [/takes a URL/] })
    t.match(await run(elsewhere, 'f.json', '--atomic'), { code: 1, err: [/exclude each other/] })
    t.match(await run(elsewhere, 'a.json'), { code: 1, err: [/does not say how far/] })
    t.match(await runCommand(['load', '--token', 'x']), { code: 1, err: [/FILE is missing/] })
  })
})

t.test('the commands of the guide run as they stand', async (t) => {
  if (skipUnless(t, ['bash', 'curl', 'jq'].every(isThere), 'bash, curl and jq are needed')) return
  const guide = readFileSync(join(packageRoot, 'docs', 'guides', 'from-marquez.md'), 'utf8')
  const snippets = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, text = '']) => text)
  const target = await withServer(t, { withWorker: true })
  const marked = {
    ...eventOf(1),
    outputs: [{ namespace: 'postgres://db:5432', name: 'shop.public.revenue' }]
  }
  const url = await withStandIn(t, marquez({ events: [marked, eventOf(2)], asked: [] }))
  const script = `tributary() { node "${join(packageRoot, 'dist', 'bin', 'tributary.js')}" "$@"; }\n${snippets.join('\n')}`
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: t.testdir({}),
    env: {
      PATH: process.env.PATH,
      MARQUEZ_URL: url,
      TRIBUTARY_URL: target.url,
      TRIBUTARY_TOKEN: target.token,
      TRIBUTARY_DATA_DIR: t.testdirName
    }
  })
  t.match(stdout, /2 events read, 2 taken, 0 refused/)
  t.match(stdout, /2 records unchanged/, 'the file says nothing new')
  t.match(stdout, /"namespaces":\[/)
  t.match(stdout, /"id":"dataset:postgres:\/\/db:5432:shop.public.revenue"/)
})

const isThere = (program: string): boolean => spawnSync(program, ['--version']).status === 0
