/**
 * The operator's table of connections: the platform, instance, environment and domain of the names in a
 * namespace.
 */
import type { JsonObject, JsonValue } from '../model/changes.ts'
import { isObject } from '../model/json-values.ts'
import { fabricTypes } from '../urn/kind-shapes.ts'
import { urnOfType } from '../urn/kinds.ts'
import type { Urn } from '../urn/urn.ts'

/** A null value is decided by the rules for names. */
export type Connection = {
  /** The pattern as the operator wrote it; `*` matches any characters. */
  namespace: string
  fits: (namespace: string) => boolean
  platform: string | null
  platformInstance: string | null
  environment: string | null
  /** Whether names are changed to lower case, for a platform whose connector writes lower-case names. */
  lowerCase: boolean
  /** The domain of new datasets. */
  domain: Urn | null
}

/** In order: the first connection that matches decides. */
export type Connections = readonly Connection[]

const keys = ['namespace', 'platform', 'platformInstance', 'environment', 'lowerCase', 'domain'] as const

export const connectionFor = (connections: Connections, namespace: string): Connection | null =>
  connections.find(({ fits }) => fits(namespace)) ?? null

/** Throws an Error that names the entry and the key, and says what is expected. */
export function parseConnections(text: string): Connections {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    throw new Error('JSON')
  }
  if (!Array.isArray(list)) throw new Error('a JSON list of connections')
  return list.map((entry: JsonValue, index) => {
    try {
      return readConnection(entry)
    } catch (error) {
      throw new Error(
        `a list of connections, but entry ${index + 1} is not valid: ${error instanceof Error ? error.message : ''}`,
        { cause: error }
      )
    }
  })
}

function readConnection(entry: JsonValue): Connection {
  if (!isObject(entry)) throw new Error('it must be an object')
  const unknown = Object.keys(entry).find((key) => !keys.some((known) => known === key))
  if (unknown !== undefined) throw new Error(`${unknown} is not a key; there are ${keys.join(', ')}`)
  const namespace = textOf(entry, 'namespace')
  if (namespace === null) throw new Error('namespace must be a text')
  const environment = textOf(entry, 'environment')?.toUpperCase() ?? null
  if (environment !== null && !fabricTypes.some((known) => known === environment))
    throw new Error(`environment must be one of ${fabricTypes.join(', ')}`)
  const { lowerCase = false } = entry
  if (typeof lowerCase !== 'boolean') throw new Error('lowerCase must be true or false')
  const domain = textOf(entry, 'domain')
  return {
    namespace,
    fits: fitting(namespace),
    platform: plainText(entry, 'platform'),
    platformInstance: plainText(entry, 'platformInstance'),
    environment,
    lowerCase,
    domain: domain === null ? null : urnOfType(domain, 'domain', 'domain')
  }
}

function textOf(entry: JsonObject, key: (typeof keys)[number]): string | null {
  const text = entry[key] ?? null
  if (text === null) return null
  if (typeof text !== 'string' || text.trim() === '') throw new Error(`${key} must be a text`)
  return text
}

function plainText(entry: JsonObject, key: (typeof keys)[number]): string | null {
  const text = textOf(entry, key)
  if (text !== null && /[(),\s]/.test(text)) throw new Error(`${key} must have no spaces, commas or brackets`)
  return text
}

/** Matches the texts between the stars one by one, so that no pattern takes long. */
function fitting(pattern: string): Connection['fits'] {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return (namespace) => namespace === first
  return (namespace) => {
    if (!namespace.startsWith(first) || !namespace.endsWith(last)) return false
    let at = first.length
    for (const part of others) {
      const found = namespace.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at + last.length <= namespace.length
  }
}
