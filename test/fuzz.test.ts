/**
 * Random requests from the schema and the routes, with a fixed seed: no answer shows a bug of the server.
 * `npm run fuzz` sends many more.
 */
import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import t from 'tap'
import { query } from '../shared/db/query.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { routesOf } from './fuzz/route-requests.ts'
import { sendRequests, requestAt } from './fuzz/send-requests.ts'
import { seedRecords } from './fuzz/seed-records.ts'
import { loadLines } from './support/load-lines.ts'
import { withRunningServer, type RunningServer } from './support/running-server.ts'

const seed = Number(process.env.SEED ?? 18)
const count = 1_500

t.test('random requests get no 5xx and no INTERNAL, and no record ends with one', async (t) => {
  let server: RunningServer | undefined
  const routes = await routesOf(async () => {
    server = await withRunningServer(t)
  })
  if (!server) throw new Error('no server')
  await loadLines(server, [...seedRecords])
  const schema = buildSchema(readFileSync(packagePath('api/graphql/schema.graphql'), 'utf8'))
  const fuzzing = { seed, first: 0, count, concurrency: 8, schema, routes }
  t.strictSame(requestAt(fuzzing, 5), requestAt(fuzzing, 5), 'a seed gives the same requests')
  t.ok(new Set(routes.map(({ url }) => url)).size > 30, 'the routes are those of the server')
  const { findings } = await sendRequests(server, fuzzing)
  for (const { index, request, status, text } of findings)
    t.fail(
      `request ${index} of seed ${seed}: ${status} ${text.slice(0, 500)}\n${JSON.stringify(request).slice(0, 2_000)}`
    )
  t.strictSame(
    await query(server.db, "select line, code, message, record from reject where code = 'INTERNAL'"),
    []
  )
})
