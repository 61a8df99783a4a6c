/** Fills an empty catalog with a small company through the bulk pipeline, and shows an impact query. */
import { createReadStream, readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import type pg from 'pg'
import { postJson } from '../bin/client/ask.ts'
import { followLoad, readRejects } from '../bin/client/follow-load.ts'
import { isObject } from '../bin/client/load-view.ts'
import { sendLoad } from '../bin/client/send-load.ts'
import type { Server } from '../bin/client/server.ts'
import { askDatabase } from '../bin/reach.ts'
import { packagePath } from '../shared/platform/paths.ts'

/** The start of the impact query: the asset whose change reaches furthest. */
const startUrn = 'urn:li:dataset:(urn:li:dataPlatform:postgres,booking.public.ticket,PROD)'
const loadMaxMs = 60_000

/** If several processes start at once, one loads the sample: 'smpl' in ASCII. */
const sampleLockKey = 0x73_6d_70_6c

/** Does nothing if the catalog is not empty. Never throws: a failing sample must not stop a catalog. */
export async function showSample(
  server: Server,
  databaseUrl: string,
  say: (line: string) => void
): Promise<void> {
  try {
    await askDatabase(databaseUrl, async (client) => {
      if (await isEmptyAndLocked(client)) await loadAndShow(server, say)
    })
  } catch (error) {
    say(`The sample was not loaded: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The lock lasts as long as the connection. An interrupted upload leaves nothing. */
async function isEmptyAndLocked(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ isReady: boolean }>(
    `
    select
      pg_try_advisory_lock($1::bigint)
      and not exists (select from entity)
      and not exists (select from load where state not in ('receiving', 'aborted')) as "isReady"`,
    [sampleLockKey]
  )
  return rows[0]?.isReady === true
}

async function loadAndShow(server: Server, say: (line: string) => void): Promise<void> {
  const startedAt = performance.now()
  const { load: sent } = await sendLoad(
    server,
    { query: { format: 'ndjson', source: 'sample', missingReferences: 'reject' } },
    {
      stages: [Readable.from(sampleChunks())],
      contentType: 'application/x-ndjson',
      packing: null
    }
  )
  const load = await followLoad(server, sent, { waitMs: loadMaxMs, onState: () => {} })
  const { applied, received, rejected } = load.counts
  say('')
  say(
    `Sample: a ferry line's catalog. Load ${load.id} is ${load.state}: ${applied} of ${received} records applied in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`
  )
  if (rejected > 0)
    for (const { line, code, message } of await readRejects(server, load, 5))
      say(`  line ${line}: ${code}: ${message}`)
  for (const line of await impactOf(server, startUrn)) say(line)
}

async function* sampleChunks(): AsyncGenerator<Buffer> {
  const folder = packagePath('dev/sample')
  for (const name of readdirSync(folder)
    .filter((file) => file.endsWith('.ndjson'))
    .sort()) {
    // a border: a stream without an encoding gives buffers
    for await (const chunk of createReadStream(`${folder}/${name}`)) yield chunk as Buffer
  }
}

const impactQuery = `
  query impact($input: ScrollAcrossLineageInput!) {
    scrollAcrossLineage(input: $input) { total searchResults { degree entity { urn type } } }
  }`

async function impactOf(server: Server, urn: string): Promise<string[]> {
  const answer = await postJson(server, 'api/graphql', undefined, {
    query: impactQuery,
    variables: { input: { urn, query: '*', direction: 'DOWNSTREAM', count: 100 } }
  })
  const found =
    isObject(answer) && isObject(answer.data) && isObject(answer.data.scrollAcrossLineage)
      ? answer.data.scrollAcrossLineage
      : null
  if (found === null || !Array.isArray(found.searchResults))
    throw new Error(`the impact query failed: ${JSON.stringify(answer).slice(0, 500)}`)
  return [
    `What depends on ${urn}? ${String(found.total)} assets:`,
    ...found.searchResults
      .filter(isObject)
      .map(({ degree, entity }) => `  ${String(degree)}  ${isObject(entity) ? String(entity.urn) : ''}`)
  ]
}
