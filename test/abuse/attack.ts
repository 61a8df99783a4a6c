/** What an attack consists of, and the answers that are allowed. */
import type { JsonObject } from '../../shared/model/changes.ts'

export type Attack = {
  name: string
  method?: 'POST' | 'GET' | 'PATCH'
  path: string
  contentType?: string
  /** Made just before the first request, because some bodies are large. */
  body: (request: number) => string | Buffer | null
  /** The number of different bodies, which requests have in turn; 1 if absent. */
  bodiesCount?: number
  /** The number of concurrent requests: as one is answered, the next one is sent. */
  atOnce: number
  /** Whether the token may only read. */
  readsOnly?: true
  /** Instead of the bound for all attacks, for one whose garbage fills the heap faster than it is collected. */
  rssMaxMb?: number
  /** Every answer must have one of these HTTP statuses and, if it is a refusal, the reason. */
  expected: readonly { status: number; reason: string | null }[]
}

type GraphqlAttack = {
  name: string
  query: string
  variables?: JsonObject | ((request: number) => JsonObject)
  atOnce?: number
  expected: readonly (string | null)[]
}

/** GraphQL answers with status 200 and its errors in the body; null stands for an answer without errors. */
export const overGraphql = ({
  name,
  query,
  variables = {},
  atOnce = 2,
  expected
}: GraphqlAttack): Attack => ({
  name,
  path: '/api/graphql',
  body: (request) =>
    JSON.stringify({ query, variables: typeof variables === 'function' ? variables(request) : variables }),
  atOnce,
  expected: expected.map((reason) => ({ status: 200, reason }))
})

/** The same field `count` times, each under another name. */
export const aliased = (count: number, field: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field(index)}`).join('\n')

/** Nested fragments, each of which spreads the next one `width` times: width ** levels copies of the innermost. */
export function nestedFragments({
  type,
  levels,
  width,
  step,
  leaf
}: {
  type: string
  levels: number
  width: number
  step: (name: string, inner: string) => string
  leaf: string
}): string {
  const fragments = Array.from({ length: levels }, (_, level) => {
    const inner = level + 1 < levels ? `...f${level + 1}` : leaf
    return `fragment f${level} on ${type} { ${Array.from({ length: width }, (_unused, index) => step(`l${level}w${index}`, inner)).join(' ')} }`
  })
  return fragments.join('\n')
}
