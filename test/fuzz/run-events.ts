/**
 * `npm run fuzz-events [-- --count 100000] [--seed N] [--only INDEX]`: mutated OpenLineage events. Each
 * answer must be one that clients may get; refused events have no effect, and accepted ones are complete.
 * Prints the seed; exits with 1 on a violation.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readEventText } from '../../shared/catalog/openlineage/ingest-events.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { requestOf, type SentEvents } from './events.ts'
import { createRandom } from './random.ts'
import type { Service } from './send-requests.ts'
import { withFuzzedService, type Fuzzed } from './service.ts'

const { values } = parseArgs({
  options: { count: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } }
})
const seed = Number(values.seed ?? process.env.SEED ?? randomInt(2 ** 31))
const only = values.only === undefined ? null : Number(values.only)
const count = only === null ? Number(values.count ?? 100_000) : 1
const concurrency = 32
const allowed = [200, 201, 204, 400, 413, 422]
const shownFindings = 20

async function fuzz({ service, db, hasEnded, printLogs }: Fuzzed): Promise<boolean> {
  console.log(`# ${count} requests with mutated events, seed ${seed}`)
  const findings: string[] = []
  const statuses = new Map<number, number>()
  const refused = new Set<string>()
  const first = only ?? 0
  let next = first
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < first + count) {
        const index = next++
        const sent = requestOf(createRandom(seed, index), seed, index)
        const { status, text } = await send(service, sent)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (!allowed.includes(status)) findings.push(`request ${index}: ${status} ${text.slice(0, 500)}`)
        for (const tag of refusedTags(sent, status, text)) refused.add(tag)
        if ((index + 1 - first) % 5_000 === 0)
          console.log(
            `${index + 1 - first} sent after ${Math.round(process.uptime())} s, ${findings.length} faults`
          )
      }
    })
  )
  findings.push(...(await leftovers(db, refused)), ...(await missing(db)))
  if (hasEnded()) findings.push('a process ended')
  for (const finding of findings.slice(0, shownFindings)) console.log(finding)
  if (findings.length > 0) printLogs()
  console.log(
    `answers by status: ${[...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, times]) => `${status}: ${times}`)
      .join(', ')}`
  )
  console.log(`${count} requests of seed ${seed}: ${findings.length} faults`)
  console.log(findings.length === 0 ? '1 passed, 0 failed' : '0 passed, 1 failed')
  return findings.length === 0
}

/**
 * How long events are sent again after the service says that it has too many. A busy machine may be slow for
 * a while.
 */
const busyMaxMs = 60_000

/** As clients do, sends again after status 503 with Retry-After. */
async function send({ url, token }: Service, { path, headers, body }: SentEvents) {
  const giveUpAt = Date.now() + busyMaxMs
  for (;;) {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body: new Uint8Array(body)
    })
    const text = await answer.text()
    const waitSeconds = Number(answer.headers.get('retry-after') ?? Number.NaN)
    if (answer.status !== 503 || Number.isNaN(waitSeconds) || Date.now() > giveUpAt)
      return { status: answer.status, text }
    await sleep(waitSeconds * 1_000)
  }
}

/** The tags of the refused events. */
function refusedTags({ tags }: SentEvents, status: number, text: string): string[] {
  if (status >= 400) return tags
  if (status !== 200) return []
  const { failed_events: failed } = JSON.parse(text) as { failed_events: { index: number }[] }
  return failed.flatMap(({ index }) => tags[index] ?? [])
}

const tagPattern = /t\d+-\d+-\d+t/g

/** The parts of refused events that are in the catalog. */
async function leftovers(db: Db, refused: ReadonlySet<string>): Promise<string[]> {
  const rows = await query<{ text: string }>(
    db,
    `
    select urn as text from entity where is_present
    union all select urn from openlineage_state
    union all select event::text from openlineage_event`
  )
  return rows.flatMap(({ text }) =>
    (text.match(tagPattern) ?? [])
      .filter((tag) => refused.has(tag))
      .map((tag) => `left of the refused ${tag}: ${text.slice(0, 300)}`)
  )
}

/** The parts of accepted events that are missing in the catalog. */
async function missing(db: Db): Promise<string[]> {
  const known = new Set(
    (await query<{ urn: string }>(db, 'select urn from openlineage_state')).map(({ urn }) => urn)
  )
  const events = await query<{ text: string }>(db, 'select event::text as text from openlineage_event')
  return events.flatMap(({ text }) => {
    const { datasets, job, run } = readEventText(text).content
    const named = [...datasets.map(({ urn }) => urn), ...(job ? [job.urn] : []), ...(run ? [run.urn] : [])]
    return named.filter((urn) => !known.has(urn)).map((urn) => `${urn} is missing of ${text.slice(0, 300)}`)
  })
}

await withFuzzedService(fuzz)
