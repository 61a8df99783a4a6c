/** Reads the parameters in the URL of a request: storable text, known names, each once. */
import type { FastifyInstance } from 'fastify'
import { CatalogError } from '../shared/errors.ts'

export type Query = Readonly<Record<string, string>>

/** Throws BAD_REQUEST for an unknown parameter, or one that is given twice. */
export function readQuery(query: unknown, allowed: readonly string[]): Query {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(typeof query === 'object' && query !== null ? query : {})) {
    if (!allowed.includes(name))
      throw new CatalogError('BAD_REQUEST', `Unknown parameter ${name.slice(0, 100)}`, {
        field: name.slice(0, 100),
        allowed
      })
    if (typeof value !== 'string')
      throw new CatalogError('BAD_REQUEST', `${name} is given twice`, { field: name })
    found[name] = value
  }
  return found
}

/** Refuses query and path parameters that contain U+0000 with INVALID_CHARACTER, because Postgres cannot process it. */
export function refuseNulInParameters(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const { query, params } = request
    for (const [name, value] of entriesOf(query))
      if (`${name}${String(value)}`.includes('\0')) throw nulIn(name.replaceAll('\0', '\ufffd').slice(0, 100))
    if (entriesOf(params).some(([, value]) => String(value).includes('\0'))) throw nulIn('path')
  })
}

const entriesOf = (parameters: unknown): [string, unknown][] =>
  Object.entries(typeof parameters === 'object' && parameters !== null ? parameters : {})

const nulIn = (field: string): CatalogError =>
  new CatalogError('INVALID_CHARACTER', `${field} contains U+0000, which cannot be stored`, { field })
