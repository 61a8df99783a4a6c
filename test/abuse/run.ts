/**
 * `npm run abuse [-- --only WORD ...]` (`--only probes`: all probes): sends each attack to an API and a worker that run as in production, while
 * another client reads on schedule. Exits with 1 if an answer is not one of the expected ones, the other
 * client's p99 or the memory of a process is over its bound, a request of the other client fails, or a
 * process ends.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { runOnServer, testDatabaseEnv, urlOfDatabase, dropDatabase } from '../support/database.ts'
import { loadLines } from '../support/load-lines.ts'
import { freePort } from '../support/free-port.ts'
import { startTestServices } from '../support/services.ts'
import { createAdminToken, keepRunning, runCommand } from '../torture/processes.ts'
import type { Attack } from './attack.ts'
import { groups } from './attacks.ts'
import { startBystander, type Running, type Service } from './bystander.ts'
import { catalogLoads } from './catalog.ts'
import { fire, isExpected, type Fired } from './fire.ts'
import { probes } from './probes/probes.ts'
import { runProbes } from './run-probes.ts'
import { slowConnections } from './slow-connections.ts'

const bounds = { p99Ms: 250, rssMb: 800 }
/** The bound of the other client's p99 while probes are sent, on any machine. */
const probesMaxMs = 500
/**
 * An attack that is answered at once is repeated for this long, so that the other client is measured during
 * it.
 */
const leastMs = 4_000
const restMs = 1_000

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } })

async function main(): Promise<void> {
  const services = await startTestServices()
  const server = services.env[testDatabaseEnv.url] ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'tributary-abuse-'))
  const withDatabase = async <Result>(run: (url: string) => Promise<Result>): Promise<Result> => {
    const name = `abuse_${randomBytes(4).toString('hex')}`
    await runOnServer(server, `create database ${name} template ${services.env[testDatabaseEnv.template]}`)
    try {
      return await run(urlOfDatabase(server, name))
    } finally {
      await dropDatabase(server, name)
    }
  }
  try {
    const chosen = chosenGroups().flat().length
    const failed = chosen === 0 ? 0 : await withDatabase((url) => attackAll(url, folder))
    const probed = await withDatabase((databaseUrl) =>
      runProbes(
        { probes: probes.filter(isChosenProbe), slow: slowConnections.filter(isChosenProbe) },
        { databaseUrl, folder, maxMs: probesMaxMs }
      )
    )
    // For the summary of a CI run.
    const [passes, failures] = [chosen - failed + probed.passed, failed + probed.failed]
    console.log(`${passes} passed, ${failures} failed`)
    process.exitCode = failures === 0 && passes > 0 ? 0 : 1
  } finally {
    await services.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const isChosenProbe = ({ name }: { name: string }): boolean =>
  isChosen(name) || (values.only?.includes('probes') ?? false)

const isChosen = (name: string): boolean => values.only?.some((word) => name.includes(word)) ?? true

const chosenGroups = (): Attack[][] =>
  groups
    .map((attacks) => attacks.filter(({ name }) => isChosen(name)))
    .filter((attacks) => attacks.length > 0)

/** The number of failed attacks. */
async function attackAll(databaseUrl: string, folder: string): Promise<number> {
  const port = await freePort()
  const env = {
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: String(port),
    LOG_LEVEL: 'error',
    REDIS_URL: '',
    TRIBUTARY_DATA_DIR: folder
  }
  const admin: Service = { url: `http://127.0.0.1:${port}`, token: await createAdminToken(env) }
  const readerNamed = async (name: string): Promise<Service> => {
    const answer = await runCommand(['token', 'create', '--name', name, '--scopes', 'read'], env)
    return { ...admin, token: /trib_\w+/.exec(answer)?.[0] ?? '' }
  }
  const [other, reader] = [await readerNamed('other'), await readerNamed('reader')]
  const api = keepRunning('serve', ['serve'], env, folder)
  const worker = keepRunning('work', ['work'], env, folder)
  try {
    await untilReady(admin)
    for (const load of catalogLoads()) await loadLines(admin, load)
    const processes = [api, worker]
    console.log(`# the catalog is loaded after ${Math.round(process.uptime())} s`)
    const calmMs = await calmP99Ms(other, processes)
    console.log(`nothing: p99 ${Math.round(calmMs)} ms`)
    let failed = 0
    let hasEnded = false
    for (const [index, attacks] of chosenGroups().entries()) {
      if (index > 0) {
        await api.kill()
        await untilReady(admin)
        // A new process is slow at first.
        await calmP99Ms(other, processes)
      }
      const began = pidsOf(processes)
      for (const attack of attacks)
        if (
          !(await withstands(
            attack,
            attack.readsOnly ? reader : admin,
            other,
            processes,
            bounds.p99Ms + calmMs
          ))
        )
          failed += 1
      hasEnded ||= pidsOf(processes) !== began
    }
    if (hasEnded)
      for (const name of ['serve', 'work'])
        console.log(readFileSync(join(folder, `${name}.log`), 'utf8').slice(-20_000))
    return failed
  } finally {
    await worker.stop()
    await api.stop()
  }
}

async function calmP99Ms(other: Service, processes: readonly Running[]): Promise<number> {
  const calm = startBystander(other, processes)
  await sleep(leastMs)
  return (await calm.end()).p99Ms
}

const pidsOf = (processes: readonly Running[]): string => processes.map(({ pid }) => pid()).join(' ')

/**
 * `maxMs` is the bound of the other client's p99. The latency of this machine without an attack is added to
 * it, so that a busy machine does not fail the test.
 */
async function withstands(
  attack: Attack,
  attacker: Service,
  other: Service,
  processes: readonly Running[],
  maxMs: number
): Promise<boolean> {
  const began = pidsOf(processes)
  const bodies = Array.from({ length: attack.bodiesCount ?? 1 }, (_, request) => attack.body(request))
  await loopHeldMs(other)
  const bystander = startBystander(other, processes)
  const startedAt = performance.now()
  const answers: Fired[] = []
  let sent = 0
  const keepBusy = async (): Promise<void> => {
    do answers.push(await fire(attacker, attack, bodies[sent++ % bodies.length] ?? null))
    while (performance.now() - startedAt < leastMs)
  }
  await Promise.all(Array.from({ length: attack.atOnce }, keepBusy))
  const { p99Ms, failures, rssMb } = await bystander.end()
  const heldMs = await loopHeldMs(other)
  const unexpected = answers.filter((answer) => !isExpected(attack, answer))
  const kinds = new Map<string, number>()
  for (const { status, reasons } of answers)
    kinds.set(
      `${status} ${reasons.join('+') || 'ok'}`,
      (kinds.get(`${status} ${reasons.join('+') || 'ok'}`) ?? 0) + 1
    )
  const maxRssMb = attack.rssMaxMb ?? bounds.rssMb
  const problems = [
    ...(p99Ms > maxMs ? [`p99 over ${Math.round(maxMs)} ms`] : []),
    ...(rssMb > maxRssMb ? [`memory over ${maxRssMb} MB`] : []),
    ...(failures.length > 0
      ? [`${failures.length} of the other client's requests failed: ${failures[0]}`]
      : []),
    ...(unexpected.length > 0 ? [`${unexpected.length} answers were not expected`] : []),
    ...(pidsOf(processes) === began ? [] : ['a process ended'])
  ]
  const [slowest, largest] = [
    Math.max(...answers.map(({ ms }) => ms)),
    Math.max(...answers.map(({ bytes }) => bytes))
  ]
  console.log(
    `${problems.length === 0 ? 'ok' : 'NOT OK'} ${attack.name}: p99 ${Math.round(p99Ms)} ms, ${Math.round(rssMb)} MB, the event loop held ${Math.round(heldMs)} ms at most, ${answers.length} answers (${[...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ')}), the slowest ${Math.round(slowest)} ms, the largest ${(largest / 1e6).toFixed(1)} MB${problems.length > 0 ? `; ${problems.join('; ')}` : ''}`
  )
  await sleep(restMs)
  return problems.length === 0
}

/** The longest time that the event loop of the process was blocked since the last call. */
async function loopHeldMs({ url }: Service): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return 1_000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1] ?? 0)
}

async function untilReady({ url }: Service): Promise<void> {
  for (const giveUpAt = Date.now() + 60_000; ; await sleep(100)) {
    const answer = await fetch(`${url}/health/ready`).catch(() => null)
    if (answer?.ok) return
    if (Date.now() > giveUpAt) throw new Error('the API did not become ready')
  }
}

await main()
