/** Sends records as one load and waits for it, to create the initial state of a test. */
import type { JsonValue } from '../../shared/model/changes.ts'
import { parsed, valueAt } from './json-answer.ts'
import { sendRaw } from './raw-request.ts'

/** The longest time that one request may wait for a load. */
const waitSeconds = 25
/** On a busy machine, a load takes much longer than one request may wait. */
const loadMaxMs = 200_000
/** A load of which nothing changes for so long is not waited for any longer. */
const standstillMaxMs = 100_000

/** Throws unless every record was applied. */
export const loadLines = async (
  { url, token }: { url: string; token: string },
  records: JsonValue[]
): Promise<void> => {
  const authorization = `Bearer ${token}`
  let answer = await sendRaw(url, {
    method: 'POST',
    path: `/loads?format=ndjson&wait=${waitSeconds}`,
    headers: { authorization, 'content-type': 'application/x-ndjson' },
    body: Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  })
  const startedAt = performance.now()
  let changedAt = startedAt
  // 202: the load is stored and has not ended.
  while (
    answer.status === 202 &&
    performance.now() - startedAt < loadMaxMs &&
    performance.now() - changedAt < standstillMaxMs
  ) {
    const id = String(valueAt(parsed(answer.text), 'id'))
    const next = await sendRaw(url, {
      method: 'GET',
      path: `/loads/${id}?wait=${waitSeconds}`,
      headers: { authorization }
    })
    if (next.text !== answer.text) changedAt = performance.now()
    const hasEnded = next.status !== 200 || valueAt(parsed(next.text), 'finishedAt') !== null
    answer = { ...next, status: next.status === 200 && !hasEnded ? 202 : next.status }
  }
  const load = parsed(answer.text)
  if (answer.status !== 200 || valueAt(load, 'state') !== 'done' || valueAt(load, 'counts.rejected') !== 0)
    throw new Error(`the load was not applied: ${answer.status} ${answer.text}`)
}
