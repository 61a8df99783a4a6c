/**
 * `npm run bench -- openlineage [EVENTS]`: OpenLineage events over HTTP, one per request, from 8
 * connections: the maximum per second, and the latency at 1,000 a second. First runs of new jobs, then more
 * runs of the same jobs, which is the usual case. Each part ends after 20 s, with fewer events on a slow
 * machine: the processor time per event says more than events per second if others use the machine too.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import type { Api } from '../../test/torture/catalog-calls.ts'
import { quantile, rounded, tableOf, type Finding } from '../lineage-http/findings.ts'
import { openStage, type Stage } from '../loading/stage.ts'

const connections = 8
const pacedPerSecond = 1_000
const ackGoalMs = 250
const partMaxMs = 20_000
const runEvents = ['START', 'COMPLETE'] as const

/**
 * Two events of a run of a job that reads three datasets, which other jobs read too, and writes one of its
 * own with four columns.
 */
function eventOf(round: number, index: number): string {
  const job = Math.floor(index / runEvents.length)
  const eventType = runEvents[index % runEvents.length] ?? 'START'
  const data = (name: string) => ({ namespace: 'postgres://warehouse:5432', name, facets: {} })
  const column = (number: number) => ({
    inputFields: [
      {
        ...data(`shop.raw.t${(job + number) % 500}`),
        field: `c${number}`,
        transformations: [{ type: 'DIRECT', subtype: 'IDENTITY' }]
      }
    ]
  })
  const fields = Array.from({ length: 4 }, (_, number) => ({ name: `c${number}`, type: 'int' }))
  return JSON.stringify({
    eventType,
    eventTime: new Date(Date.UTC(2026, 0, 1 + round) + index * 1_000).toISOString(),
    producer: 'https://github.com/OpenLineage/OpenLineage/tree/1.30.0/integration/spark',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: `${round}-${job}` },
    job: { namespace: 'nightly', name: `etl.job_${job}`, facets: {} },
    inputs: [0, 1, 2].map((number) => data(`shop.raw.t${(job + number) % 500}`)),
    outputs:
      eventType === 'START'
        ? []
        : [
            {
              ...data(`shop.mart.t${job}`),
              facets: {
                schema: { fields },
                columnLineage: {
                  fields: Object.fromEntries(fields.map(({ name }, number) => [name, column(number)]))
                }
              }
            }
          ]
  })
}

export async function benchOpenLineage(args: readonly string[]): Promise<object> {
  const count = Number(args[0] ?? 10_000)
  const stage = await openStage()
  try {
    await drive(stage, 99, 200, null)
    const first = await drive(stage, 0, count, null)
    const again = await drive(stage, 1, first.times.length, null)
    const paced = await drive(stage, 2, first.times.length, pacedPerSecond)
    const findings: Finding[] = [
      {
        row: 5,
        name: 'events of new jobs',
        value: first.perSecond,
        unit: 'per s',
        goal: { atLeast: pacedPerSecond },
        context: summary(first)
      },
      {
        row: 5,
        name: 'events of known jobs',
        value: again.perSecond,
        unit: 'per s',
        goal: { atLeast: pacedPerSecond },
        context: summary(again)
      },
      {
        row: 5,
        name: `answer at ${pacedPerSecond} events a second, 99th percentile`,
        value: quantile(paced.times, 0.99),
        unit: 'ms',
        goal: { atMost: ackGoalMs },
        context: summary(paced)
      }
    ]
    for (const line of tableOf(findings)) console.log(line)
    return { at: new Date().toISOString(), events: count, connections, findings, cpu: stage.cpu() }
  } finally {
    await stage.stop()
  }
}

type Driven = { perSecond: number; times: number[]; groups: number; cpuMs: { api: number; postgres: number } }

const summary = ({ perSecond, times, groups, cpuMs }: Driven) => ({
  perSecond: rounded(perSecond),
  events: times.length,
  eventsPerGroup: rounded(times.length / groups),
  apiCpuMsPerEvent: rounded(cpuMs.api / times.length),
  postgresCpuMsPerEvent: rounded(cpuMs.postgres / times.length),
  p50: rounded(quantile(times, 0.5)),
  p99: rounded(quantile(times, 0.99))
})

/**
 * Sends events over all connections. With a rate, each is sent at its time, and its delay is part of the
 * measurement.
 */
async function drive(
  { api, cpu, db }: Stage,
  round: number,
  count: number,
  perSecond: number | null
): Promise<Driven> {
  const [before, groupsBefore] = [cpu(), await countGroups(db)]
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const times: number[] = []
  let next = 0
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < count && performance.now() - begun < partMaxMs) {
        const index = next++
        const due = perSecond === null ? performance.now() : begun + (index * 1_000) / perSecond
        if (due > performance.now()) await sleep(due - performance.now())
        await send(api, agent, eventOf(round, index))
        times.push(performance.now() - due)
      }
    })
  )
  const tookMs = performance.now() - begun
  agent.destroy()
  const after = cpu()
  return {
    perSecond: (times.length * 1_000) / tookMs,
    times,
    groups: (await countGroups(db)) - groupsBefore,
    cpuMs: { api: (after.api - before.api) * 1_000, postgres: (after.postgres - before.postgres) * 1_000 }
  }
}

/** Each group of events has one entry in the audit trail. */
async function countGroups(db: Db): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    "select count(*)::int as count from audit where operation = 'ingestEvents'"
  )
  return row?.count ?? 0
}

function send({ url, token }: Api, agent: Agent, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/lineage`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body)
      }
    })
    sent.on('error', reject)
    sent.on('response', (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8')
      })
      answer.on('end', () => {
        if (answer.statusCode === 201) resolve()
        else reject(new Error(`${answer.statusCode} ${text}`))
      })
    })
    sent.end(body)
  })
}
