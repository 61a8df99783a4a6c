/**
 * The upper bound of GraphQL on this HTTP stack: a query parsed and validated in advance, a resolver that
 * returns a constant, and nothing else: no token, limits, log or freshness. Run as a process:
 * `bare-graphql.js PORT FILE`, like bare-fastify.js.
 */
import { readFileSync } from 'node:fs'
import { fastify } from 'fastify'
import { mercurius } from 'mercurius'
import { packagePath } from '../../shared/platform/paths.ts'

const [port = '0', file = ''] = process.argv.slice(2)
const { data } = JSON.parse(readFileSync(file, 'utf8')) as { data: Record<string, unknown> }
const sdl = readFileSync(packagePath('api/graphql/schema.graphql'), 'utf8')
const abstractTypes = [...sdl.matchAll(/^(?:interface|union) (\w+)/gm)].map(([, name = '']) => name)

const app = fastify()
await app.register(mercurius, {
  schema: sdl,
  resolvers: {
    Query: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, async () => value])),
    ...Object.fromEntries(abstractTypes.map((name) => [name, { resolveType: () => 'Dataset' }]))
  },
  routes: false
})

app.post<{ Body: { query: string; variables: Record<string, unknown> } }>(
  '/api/graphql',
  async ({ body: { query, variables } }, reply) => {
    reply.type('application/json; charset=utf-8')
    return JSON.stringify(await app.graphql(query, {}, variables))
  }
)
app.get('/health/live', async () => 'ok')
await app.listen({ host: '127.0.0.1', port: Number(port) })
