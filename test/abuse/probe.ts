/** What a probe consists of: a request of an attacker, as data, and the answer it must get. */
import type { ErrorCode } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'

/**
 * Who holds a token. `writer` owns the load of the world; `stranger` has the same rights; the limited ones are
 * limited to the domain `own`.
 */
export const holders = [
  'admin',
  'reader',
  'writer',
  'stranger',
  'limited',
  'limitedAdmin',
  'revoked',
  'expired'
] as const
export type Holder = (typeof holders)[number]

export type Expected = {
  status: number
  /** The code of the error; null for an answer without one. */
  code: ErrorCode | null
  /** The code of every reject, for a load. */
  rejects?: ErrorCode
  /** Values of headers; null for one that must be absent. */
  headers?: { readonly [name: string]: string | null }
  contains?: string
  lacks?: string
}

/**
 * In texts, `<token>` stands for the holder's token, `<token of HOLDER>` for another one, `<load>` for the
 * writer's load, and `<listener>` for the address of a server that nothing may call.
 */
export type Sent = {
  /** Whose token the request has; null for none. By default `writer`. */
  as?: Holder | null
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  path: string
  headers?: { readonly [name: string]: string }
  /** An object or a list is sent as JSON, with its Content-Type. */
  body?: JsonValue | Buffer
  /** Sent in place of a request, byte for byte. */
  bytes?: string
  expected: Expected
}

export type Probe = Sent & {
  name: string
  /** Sent afterwards, to see what the attacker got. */
  afterwards?: readonly Sent[]
  /** Tables that may differ afterwards; by default none. `load` stands for the tables that record loads. */
  changes?: 'load' | 'catalog'
}

export const refused = (status: number, code: ErrorCode): Expected => ({ status, code })
export const done: Expected = { status: 200, code: null }

type Question = {
  name: string
  query: string
  variables?: JsonObject
  as?: Holder | null
  code: ErrorCode | null
  changes?: Probe['changes']
}

/** GraphQL answers with status 200 and its errors in the body. */
export const overGraphql = ({ name, query, variables = {}, code, as, changes }: Question): Probe => ({
  name,
  method: 'POST',
  path: '/api/graphql',
  body: { query, variables },
  expected: { status: 200, code },
  ...(as === undefined ? {} : { as }),
  ...(changes ? { changes } : {})
})

/** The same probe for each of these parts, named after the part. */
export const forEach = <Part>(
  parts: { readonly [name: string]: Part },
  probe: (part: Part) => Omit<Probe, 'name'>,
  what: string
): Probe[] => Object.entries(parts).map(([name, part]) => ({ name: `${what}: ${name}`, ...probe(part) }))
