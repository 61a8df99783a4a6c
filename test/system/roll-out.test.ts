/** API processes are replaced one after the other, and no request behind a load balancer is refused. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createToken } from '../../shared/catalog/access/create-token.ts'
import { withDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { untilReady } from './support/catalog.ts'
import { runLine, type RunningProcess } from './support/processes.ts'

/** How often the load balancer asks. A process that leaves must be taken for at least two of these times. */
const probeEveryMs = 100
const delaySeconds = 2

type Answer = { status: number; connection: string | undefined }

/** Asks on a connection of its own, as a load balancer may. Rejects if the connection is refused or cut off. */
async function ask(port: number, path: string, token?: string): Promise<Answer> {
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    method: token === undefined ? 'GET' : 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
    }
  })
  sent.end(token === undefined ? undefined : JSON.stringify({ query: '{ __typename }' }))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  return { status: answer.statusCode ?? 0, connection: answer.headers.connection }
}

/** Keeps asking each process whether it is ready, and sends requests to those that were when it last asked. */
function balance(ports: readonly number[], token: string) {
  const ready = new Set<number>()
  const faults: string[] = []
  const counts = new Map<number, number>()
  let isOver = false
  const probing = ports.map(async (port) => {
    for (; !isOver; await sleep(probeEveryMs)) {
      const isReady = await ask(port, '/health/ready').then(
        ({ status }) => status === 200,
        () => false
      )
      if (isReady) ready.add(port)
      else ready.delete(port)
    }
  })
  const sending = (async () => {
    for (let turn = 0; !isOver; turn += 1) {
      const taken = [...ready]
      const port = taken[turn % Math.max(1, taken.length)]
      if (port === undefined) await sleep(5)
      else
        await ask(port, '/api/graphql', token).then(
          ({ status }) => {
            counts.set(port, (counts.get(port) ?? 0) + 1)
            if (status !== 200) faults.push(`${status}`)
          },
          (error: unknown) => faults.push(String(error))
        )
    }
  })()
  return {
    faults,
    count: (port: number) => counts.get(port) ?? 0,
    isReady: (port: number) => ready.has(port),
    async stop() {
      isOver = true
      await Promise.all([...probing, sending])
    }
  }
}

async function withProcesses(t: Test, shutdownDelaySeconds: number) {
  const { db, url } = await withDatabase(t)
  const { token } = await createToken(db, { name: 'roll-out', scopes: ['read'] })
  const ports = [await freePort(), await freePort()]
  const start = async (port: number): Promise<RunningProcess> => {
    const process = runLine(t, 'web', {
      DATABASE_URL: url,
      HOST: '127.0.0.1',
      PORT: String(port),
      SHUTDOWN_DELAY_SECONDS: String(shutdownDelaySeconds)
    })
    await untilReady(`http://127.0.0.1:${port}`, process)
    return process
  }
  return { token, ports, start }
}

t.test('no request is refused while API processes are replaced', async (t) => {
  const { token, ports, start } = await withProcesses(t, delaySeconds)
  const running = new Map<number, RunningProcess>()
  for (const port of ports) running.set(port, await start(port))
  const balancer = balance(ports, token)
  for (const port of ports) {
    while (!ports.every((each) => balancer.isReady(each))) await sleep(10)
    const before = balancer.count(port)
    while (balancer.count(port) < before + 20) await sleep(10)
    const old = running.get(port)
    old?.signal('SIGTERM')
    t.equal(await old?.ended, 0, old?.said() ?? '')
    running.set(port, await start(port))
  }
  while (!ports.every((each) => balancer.isReady(each))) await sleep(10)
  await balancer.stop()
  t.same(balancer.faults, [])
})

t.test('a process that leaves answers, says so, and lets kept-alive clients go', async (t) => {
  const { token, ports, start } = await withProcesses(t, delaySeconds)
  const [port = 0] = ports
  const process = await start(port)
  t.match(await ask(port, '/health/ready'), { status: 200 })
  process.signal('SIGTERM')
  await process.says(/not ready any more; requests are still answered/)
  t.match(await ask(port, '/health/ready'), { status: 503, connection: 'close' })
  t.match(await ask(port, '/health/live'), { status: 200 })
  t.match(await ask(port, '/api/graphql', token), { status: 200, connection: 'close' })
  t.equal(await process.ended, 0, process.said())
  await t.rejects(ask(port, '/health/live'), { code: 'ECONNREFUSED' })
})

t.test('without a delay a process refuses at once, and a second signal ends a delay', async (t) => {
  const { ports, start } = await withProcesses(t, 0)
  const quick = await start(ports[0] ?? 0)
  quick.signal('SIGTERM')
  t.equal(await quick.ended, 0)
  t.notMatch(quick.said(), /not ready any more/)
  const patient = await withProcesses(t, 300)
  const slow = await patient.start(patient.ports[0] ?? 0)
  slow.signal('SIGTERM')
  await slow.says(/not ready any more/)
  slow.signal('SIGTERM')
  t.equal(await slow.ended, 143)
})
