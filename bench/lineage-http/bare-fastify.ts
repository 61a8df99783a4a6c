/**
 * The upper bound of this HTTP stack: one POST route that reads JSON and answers with JSON of a given size,
 * written by a compiled schema. Run as a process: `bare-fastify.js PORT FILE`, where the file contains the
 * answer.
 */
import { readFileSync } from 'node:fs'
import { fastify } from 'fastify'

/**
 * A response schema for values with the shape of `value`; all items of a list have the shape of the first.
 */
function schemaOf(value: unknown): object {
  if (Array.isArray(value)) return { type: 'array', items: schemaOf(value[0]) }
  if (value === null) return { type: 'null' }
  if (typeof value !== 'object') return { type: typeof value }
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, schemaOf(inner)]))
  }
}

const [port = '0', file = ''] = process.argv.slice(2)
const answer: unknown = JSON.parse(readFileSync(file, 'utf8'))
const app = fastify()
app.get('/health/live', async () => 'ok')
app.post('/api/graphql', { schema: { response: { 200: schemaOf(answer) } } }, async () => answer)
await app.listen({ host: '127.0.0.1', port: Number(port) })
