/** Sends records as one load and waits for it, to create the initial state of a test. */
import type { JsonValue } from '../../shared/model/changes.ts'
import { parsed, valueAt } from './json-answer.ts'
import { sendRaw } from './raw-request.ts'

/** Throws unless every record was applied. */
export const loadLines = async (
  { url, token }: { url: string; token: string },
  records: JsonValue[]
): Promise<void> => {
  const { status, text } = await sendRaw(url, {
    method: 'POST',
    path: '/loads?format=ndjson&wait=25',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body: Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  })
  const load = parsed(text)
  if (status !== 200 || valueAt(load, 'state') !== 'done' || valueAt(load, 'counts.rejected') !== 0)
    throw new Error(`the load was not applied: ${status} ${text}`)
}
