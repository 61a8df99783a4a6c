/**
 * Sends every probe to an API and a worker of its own, while another client reads on schedule. Afterwards it
 * reads the log: no line tells a token, and no client can write a line of its own.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createToken } from '../../shared/catalog/access/create-token.ts'
import type { Db } from '../../shared/db/database.ts'
import type { Scope } from '../../shared/model/changes.ts'
import { connectTestDatabase } from '../support/database.ts'
import { parsed, valueAt } from '../support/json-answer.ts'
import { loadLines } from '../support/load-lines.ts'
import { sendRaw } from '../support/raw-request.ts'
import { freePort } from '../support/free-port.ts'
import { changedTables, createTableChecksums } from '../support/table-checksums.ts'
import { keepRunning } from '../torture/processes.ts'
import { startBystander, type Service } from './bystander.ts'
import type { Holder, Probe } from './probe.ts'
import { faultsOf, type Target } from './send-probe.ts'
import type { SlowConnections } from './slow-connections.ts'
import { assets, domains, worldRecords, writersRecords } from './world.ts'

/** Tables about loads, which a refused load may change. */
const loadTables = ['load', 'chunk', 'reject', 'load_declaration', 'audit']
/** What every use of a token changes. */
const useTables = ['access_token']

type Tally = { passed: number; failed: number }

/**
 * `maxMs` is the bound of the other client's p99; its p99 without an attack is added. Prints what fails, and one
 * line at the end.
 */
export async function runProbes(
  { probes, slow }: { probes: readonly Probe[]; slow: readonly SlowConnections[] },
  { databaseUrl, folder, maxMs }: { databaseUrl: string; folder: string; maxMs: number }
): Promise<Tally> {
  if (probes.length + slow.length === 0) return { passed: 0, failed: 0 }
  const port = await freePort()
  const env = {
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: String(port),
    LOG_LEVEL: 'trace',
    REDIS_URL: '',
    TRIBUTARY_DATA_DIR: folder
  }
  const url = `http://127.0.0.1:${port}`
  const calls: string[] = []
  const listener = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`)
    response.end()
  }).listen(0, '127.0.0.1')
  const db = connectTestDatabase(databaseUrl, 2)
  const api = keepRunning('probed-serve', ['serve'], env, folder)
  const worker = keepRunning('probed-work', ['work'], env, folder)
  let failed = 0
  try {
    await untilReady(url)
    const { port: listenerPort } = listener.address() as AddressInfo
    const target = await createWorld(db, url, {
      listener: `http://127.0.0.1:${listenerPort}`,
      secrets: [new URL(databaseUrl).pathname.slice(1), folder]
    })
    const other: Service = { url, token: await tokenOf(db, 'other', ['read']) }
    // A new process is slow at first.
    await measured(other, () => sleep(1_000))
    const calm = await measured(other, () => sleep(2_000))
    const boundMs = maxMs + calm.p99Ms
    const began = api.pid()
    const startedAt = performance.now()
    const { p99Ms, failures } = await measured(other, async () => {
      const readSums = await createTableChecksums(db)
      let before = await readSums()
      for (const probe of probes) {
        const faults = await faultsOf(probe, target)
        if (probe.changes) await loadsEnded(db)
        const after = await readSums()
        const changed = changedTables(before, after).filter((name) => !mayChange(probe).includes(name))
        if (probe.changes !== 'catalog' && changed.length > 0) faults.push(`changes ${changed.join(', ')}`)
        before = after
        if (faults.length === 0) continue
        failed += 1
        console.log(`NOT OK ${probe.name}: ${faults.join('; ')}`)
      }
    })
    const tookMs = performance.now() - startedAt
    for (const attack of slow) if (!(await withstandsSlow(attack, target, other, boundMs))) failed += 1
    const problems = [
      ...(p99Ms > boundMs ? [`p99 over ${Math.round(boundMs)} ms`] : []),
      ...(failures.length > 0 ? [`the other client's requests failed: ${failures[0]}`] : []),
      ...(api.pid() === began ? [] : ['the process ended']),
      ...(calls.length > 0 ? [`the service called ${calls[0]}`] : []),
      ...faultsOfLog(readFileSync(join(folder, 'probed-serve.log'), 'utf8'), target)
    ]
    console.log(
      `${problems.length === 0 ? 'ok' : 'NOT OK'} ${probes.length} probes in ${(tookMs / 1_000).toFixed(1)} s: p99 ${Math.round(p99Ms)} ms${problems.map((problem) => `; ${problem}`).join('')}`
    )
    return { passed: probes.length + slow.length - failed, failed: failed + problems.length }
  } finally {
    await worker.stop()
    await api.stop()
    await db.destroy()
    listener.close()
  }
}

/** A connection is opened this often. */
const openEveryMs = 3
/** How long slow connections are held open. */
const heldMs = 4_000

/** Holds the connections open while the other client reads, sends a load, and follows it. */
async function withstandsSlow(
  { name, count, begin, drip }: SlowConnections,
  { url, tokens, load }: Target,
  other: Service,
  maxMs: number
): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const text = begin.replace('<token>', tokens.writer).replace('<load>', load)
  const sockets: Socket[] = []
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable && drip !== '') socket.write(drip)
  }, 1_000)
  const refusals: string[] = []
  const { p99Ms, failures } = await measured(other, async () => {
    // One after the other: this attack is about connections that stay, not about many requests at once.
    for (; sockets.length < count; await sleep(openEveryMs)) {
      const socket = connect(Number(port), hostname, () => socket.write(text))
      // The server may close it, which is no fault.
      sockets.push(socket.on('error', () => {}).on('data', () => {}))
    }
    await sleep(heldMs / 2)
    const { status, text: body } = await sendRaw(url, {
      method: 'POST',
      path: '/loads?format=ndjson&wait=25',
      headers: { authorization: `Bearer ${tokens.stranger}`, 'content-type': 'application/x-ndjson' },
      body: Buffer.from(JSON.stringify({ op: 'unsetDomain', entityUrn: assets.free }))
    })
    if (status !== 200) refusals.push(`a load of another client is answered ${status}`)
    const id = String(valueAt(parsed(body), 'id'))
    const followed = await sendRaw(url, {
      method: 'GET',
      path: `/loads/${id}/events`,
      headers: { authorization: `Bearer ${tokens.stranger}` }
    })
    if (followed.status !== 200) refusals.push(`its events are answered ${followed.status}`)
    await sleep(heldMs / 2)
  })
  clearInterval(dripping)
  for (const socket of sockets) socket.destroy()
  const problems = [...refusals, ...failures, ...(p99Ms > maxMs ? [`p99 over ${Math.round(maxMs)} ms`] : [])]
  console.log(
    `${problems.length === 0 ? 'ok' : 'NOT OK'} ${count} ${name}: p99 ${Math.round(p99Ms)} ms${problems[0] === undefined ? '' : `; ${problems[0]}`}`
  )
  return problems.length === 0
}

const mayChange = ({ changes }: Probe): readonly string[] =>
  changes === 'load' ? [...loadTables, ...useTables] : useTables

/** A load that was queued, or whose client did not wait, changes tables later. */
async function loadsEnded(db: Db): Promise<void> {
  for (const giveUpAt = Date.now() + 60_000; Date.now() < giveUpAt; await sleep(20)) {
    const { rows } = await db.raw<{ rows: unknown[] }>(
      "select 1 from load where state in ('receiving', 'accepted', 'applying') limit 1"
    )
    if (rows.length === 0) return
  }
  throw new Error('a load did not end')
}

async function measured(
  other: Service,
  run: () => Promise<unknown>
): Promise<{ p99Ms: number; failures: string[] }> {
  const bystander = startBystander(other, [])
  await run()
  return bystander.end()
}

const tokenOf = async (db: Db, name: string, scopes: Scope[], domainUrn?: string): Promise<string> =>
  (
    await createToken(db, {
      name,
      scopes,
      actorUrn: `urn:li:corpuser:${name}`,
      ...(domainUrn ? { domainUrn } : {})
    })
  ).token

async function createWorld(db: Db, url: string, rest: Pick<Target, 'listener' | 'secrets'>): Promise<Target> {
  const admin = await tokenOf(db, 'admin', ['admin'])
  await loadLines({ url, token: admin }, worldRecords)
  const tokens: Record<Holder, string> = {
    admin,
    reader: await tokenOf(db, 'reader', ['read']),
    writer: await tokenOf(db, 'writer', ['write']),
    stranger: await tokenOf(db, 'stranger', ['write']),
    limited: await tokenOf(db, 'limited', ['write'], domains.own),
    limitedAdmin: await tokenOf(db, 'limitedAdmin', ['admin'], domains.own),
    revoked: await tokenOf(db, 'revoked', ['admin']),
    expired: await tokenOf(db, 'expired', ['admin'])
  }
  await db.raw("update access_token set revoked_at = now() where name = 'revoked'")
  await db.raw("update access_token set expires_at = now() - interval '1 hour' where name = 'expired'")
  const sent = await sendRaw(url, {
    method: 'POST',
    path: '/loads?format=ndjson&wait=25&source=plans',
    headers: {
      authorization: `Bearer ${tokens.writer}`,
      'content-type': 'application/x-ndjson',
      'idempotency-key': 'plans-1'
    },
    body: Buffer.from(writersRecords.map((record) => JSON.stringify(record)).join('\n'))
  })
  if (valueAt(parsed(sent.text), 'counts.rejected') !== 1)
    throw new Error(`the writer's load is not as expected: ${sent.status} ${sent.text}`)
  return { url, tokens, load: String(valueAt(parsed(sent.text), 'id')), ...rest }
}

/** Every line is JSON of ours, and none tells a token. */
function faultsOfLog(log: string, { tokens }: Target): string[] {
  const lines = log.split('\n').filter(Boolean)
  const forged = lines.filter((line) => !isOurs(line))
  const told = [...Object.values(tokens), 'hunter2-in-a-url'].filter((text) => log.includes(text))
  return [
    ...(lines.length < 100 ? [`the log has ${lines.length} lines`] : []),
    ...(forged.length > 0 ? [`a line of the log is not ours: ${forged[0]?.slice(0, 200)}`] : []),
    ...(told.length > 0 ? [`the log tells ${told.length} tokens`] : [])
  ]
}

const isOurs = (line: string): boolean => {
  const entry = parsed(line)
  return typeof valueAt(entry, 'time') !== 'undefined' && valueAt(entry, 'forged') === undefined
}

async function untilReady(url: string): Promise<void> {
  for (const giveUpAt = Date.now() + 60_000; ; await sleep(100)) {
    const answer = await fetch(`${url}/health/ready`).catch(() => null)
    if (answer?.ok) return
    if (Date.now() > giveUpAt) throw new Error('the API did not become ready')
  }
}
