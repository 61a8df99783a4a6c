/**
 * OpenLineage events under torture: each is sent until it is acknowledged, and in the end the edges are
 * those that all events state.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../shared/db/query.ts'
import { isTerminal, readLoad, sendLoad, type Api } from './catalog-calls.ts'
import { patiently } from './patiently.ts'
import type { PressureStage } from './pressure.ts'

const senders = 4
const jobCount = 50
/** Events keep naming new datasets, each of them in several events at once. */
const eventsPerDataset = 6
const storedEvents = 1_500
const sendAgainMs = 200
/** So long the load may take after the faults are over. */
const loadMaxMs = 180_000

type Ends = { job: string; input: string; output: string }

const endsOf = (index: number): Ends => ({
  job: `etl.job_${index % jobCount}`,
  input: `raw.t_${Math.floor(index / eventsPerDataset)}`,
  output: `mart.t_${index % jobCount}`
})

const dataset = (name: string) => ({ namespace: 'events', name })

function eventOf(index: number): object {
  const { job, input, output } = endsOf(index)
  return {
    eventType: index % 2 === 0 ? 'RUNNING' : 'COMPLETE',
    // An event has an older time than the event before as often as a newer one.
    eventTime: new Date(Date.UTC(2026, 0, 1) + ((index * 7_919) % 100_003) * 1_000).toISOString(),
    producer: 'https://example.org/torture',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json',
    run: { runId: `run-${index % 200}` },
    job: { namespace: 'torture', name: job },
    inputs: [dataset(input)],
    outputs: [dataset(output)]
  }
}

/** The indexes of the acknowledged events. */
export type SentEvents = { indexes: number[]; sendings: number }

/** Sends events until it is stopped; then every event that it has begun to send is acknowledged. */
export async function sendEvents({ api }: PressureStage, signal: AbortSignal): Promise<SentEvents> {
  const sent: SentEvents = { indexes: [], sendings: 0 }
  let next = storedEvents
  await Promise.all(
    Array.from({ length: senders }, async () => {
      while (!signal.aborted) {
        const index = next++
        do {
          sent.sendings += 1
        } while (!(await isTaken(api, index)) && (await sleep(sendAgainMs, true)))
        sent.indexes.push(index)
      }
    })
  )
  return sent
}

async function isTaken({ url, token }: Api, index: number): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/api/v1/lineage`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(eventOf(index)),
      signal: AbortSignal.timeout(30_000)
    })
    await answer.arrayBuffer()
    return answer.status === 201
  } catch {
    return false
  }
}

/**
 * Loads stored events and waits until they are applied. After a lost answer it sends them again, because
 * events may be repeated. Returns the differences. The faults end with the signal.
 */
export async function loadEvents({ api }: PressureStage, signal: AbortSignal): Promise<string[]> {
  const lines = Array.from({ length: storedEvents }, (_, index) => `${JSON.stringify(eventOf(index))}\n`)
  let giveUpAt = Infinity
  signal.addEventListener('abort', () => {
    giveUpAt = Date.now() + loadMaxMs
  })
  for (; Date.now() < giveUpAt; await sleep(sendAgainMs)) {
    try {
      const id = await sendLoad(api, lines, { format: 'openlineage' })
      for (;;) {
        const load = await patiently(() => readLoad(api, id))
        if (isTerminal(load)) return load.state === 'done' ? [] : [`a load of events ended ${load.state}`]
        if (Date.now() > giveUpAt) break
        await sleep(sendAgainMs)
      }
    } catch {
      // Sent again.
    }
  }
  return ['a load of events was not applied in time']
}

/** The differences, as text; empty if the edges are those of the acknowledged events. */
export async function judgeEvents(
  { db, log }: PressureStage,
  { indexes, sendings }: SentEvents
): Promise<string[]> {
  const all = [...Array(storedEvents).keys(), ...indexes]
  const expected = new Set(
    all.map(endsOf).flatMap(({ job, input, output }) => [`${input} -> ${job}`, `${job} -> ${output}`])
  )
  const rows = await query<{ upstream: string; downstream: string }>(
    db,
    `
    select upstream.urn as upstream, downstream.urn as downstream
    from statement
    join entity as upstream on upstream.id = statement.upstream_id
    join entity as downstream on downstream.id = statement.downstream_id
    join statement_source on statement_source.id = statement.source_id
    where statement_source.name = 'openlineage'`
  )
  const actual = new Set(rows.map((row) => `${nameOf(row.upstream)} -> ${nameOf(row.downstream)}`))
  const lost = [...expected].filter((edge) => !actual.has(edge))
  const wrong = [...actual].filter((edge) => !expected.has(edge))
  const [kept] = await query<{ count: number }>(db, 'select count(*)::int as count from openlineage_event')
  log(`${actual.size} edges of ${all.length} events compared, of ${sendings} sendings`)
  return [
    ...(lost.length > 0
      ? [`${lost.length} edges of events are lost, for example ${lost.slice(0, 3).join('; ')}`]
      : []),
    ...(wrong.length > 0
      ? [`${wrong.length} edges are of no event, for example ${wrong.slice(0, 3).join('; ')}`]
      : []),
    ...(kept?.count === all.length
      ? []
      : [`${kept?.count ?? 0} events are kept of ${all.length} acknowledged ones`])
  ]
}

const nameOf = (urn: string): string =>
  /^urn:li:dataset:\([^,]+,(.+),PROD\)$/.exec(urn)?.[1] ?? /,([^,]+)\)$/.exec(urn)?.[1] ?? urn
