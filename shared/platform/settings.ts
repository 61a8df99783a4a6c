/** One setting: how its text is parsed, its default and its meaning. Knows no particular key. */
import { isIP } from 'node:net'

/** Turns the text of a key into its value, or throws an Error whose message says what is expected instead. */
type Parse<T> = (text: string) => T

/**
 * One environment variable. `fallback` is the text that is used if the variable is absent or empty; null
 * means that the value is then null. docs/configuration.md and .env.example show `unit` and `meaning`.
 */
export type Setting<T> = {
  key: string
  parse: Parse<T>
  fallback: string | null
  unit: string
  meaning: string
}

/** A setting that always has a value. */
export function setting<T>(
  key: string,
  parse: Parse<T>,
  fallback: string,
  unit: string,
  meaning: string
): Setting<T> {
  return { key, parse, fallback, unit, meaning }
}

/** A setting that may be absent: its value is then null. */
export function optional<T>(key: string, parse: Parse<T>, unit: string, meaning: string): Setting<T | null> {
  return { key, parse, fallback: null, unit, meaning }
}

export function integer(least: number, most: number): Parse<number> {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new Error(`a whole number from ${least} to ${most}`)
    return value
  }
}

/** A number from 0 to 1. */
export function share(text: string): number {
  const value = Number(text)
  if (!/^\d*\.?\d+$/.test(text) || value > 1) throw new Error('a number from 0 to 1')
  return value
}

export function oneOf<const T extends string>(...allowed: readonly T[]): Parse<T> {
  return (text) => {
    const found = allowed.find((word) => word === text.toLowerCase())
    if (found === undefined) throw new Error(`one of ${allowed.join(', ')}`)
    return found
  }
}

export function parseBoolean(text: string): boolean {
  if (/^(true|1|yes|on)$/i.test(text)) return true
  if (/^(false|0|no|off)$/i.test(text)) return false
  throw new Error('true or false')
}

/** Any text. */
export function anyText(text: string): string {
  return text
}

/** A secret or a name with a minimum length. */
export function textOfAtLeast(chars: number): Parse<string> {
  return (text) => {
    if (text.length < chars) throw new Error(`at least ${chars} characters`)
    return text
  }
}

/**
 * A URL with one of the schemes. The text is kept unchanged, because passwords may contain characters that
 * URL would re-encode.
 */
export function url(...schemes: readonly string[]): Parse<string> {
  const expected = `a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`
  return (text) => {
    if (!schemes.some((scheme) => text.startsWith(`${scheme}://`))) throw new Error(expected)
    // `user@/db?host=/socket` has no host: the URL standard refuses that, libpq accepts it.
    if (!URL.canParse(text) && !URL.canParse(text.replace('@/', '@socket/'))) throw new Error(expected)
    if (!hasReadableUser(text)) throw new Error('a URL whose user and password have %25 for each %')
    return text
  }
}

/** Whether the user and the password of a URL can be decoded, because the drivers decode them. */
function hasReadableUser(text: string): boolean {
  const [, user = ''] = /^[^:]+:\/\/([^/?#]*)@/.exec(text) ?? []
  try {
    decodeURIComponent(user)
    return true
  } catch {
    return false
  }
}

/** Addresses of servers, separated by commas. */
export function addresses(example: string): Parse<readonly { host: string; port: number }[]> {
  return (text) =>
    text.split(',').map((each) => {
      const [, host = '', port = ''] = /^(\[[0-9a-f:]+\]|[^\s:/@]+):(\d{1,5})$/i.exec(each.trim()) ?? []
      if (host === '' || Number(port) > 65_535) throw new Error(`addresses such as ${example}`)
      return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
    })
}

/** The address of a web site, without a slash at its end, because paths are added to it. */
export function webAddress(text: string): string {
  const isAddress = /^https?:\/\/[^?#]+$/.test(text) && URL.canParse(text)
  const { username = '', password = '', origin = '', pathname = '' } = isAddress ? new URL(text) : {}
  if (!isAddress || username !== '' || password !== '')
    throw new Error('a URL that begins with http:// or https://, without a user, ? and #')
  return `${origin}${pathname}`.replace(/\/+$/, '')
}

/** Origins of web pages, separated by commas: scheme, host and port, nothing else. */
export function origins(text: string): readonly string[] {
  const found = text.split(',').map((each) => each.trim())
  if (
    !found.every((each) => /^https?:[^*]+$/.test(each) && URL.canParse(each) && new URL(each).origin === each)
  )
    throw new Error('origins such as https://app.example.com, with commas between them')
  return found
}

/**
 * Addresses of proxies and ranges of them, separated by commas, as `@fastify/proxy-addr` accepts them. They
 * are checked here without that package, because client commands read settings too, and load no package that
 * they do not need.
 */
export function proxies(text: string): readonly string[] {
  const found = text.split(',').map((each) => each.trim())
  if (!found.every((each) => namedRanges.has(each) || isRange(each)))
    throw new Error(
      'addresses and ranges such as 192.0.2.7,10.0.0.0/8, or loopback, linklocal or uniquelocal'
    )
  return found
}

const namedRanges: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal'])

function isRange(text: string): boolean {
  const [, address = '', bits = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  return family !== 0 && Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128)
}
