/**
 * The text of an access token: `trib_`, 32 random bytes in base 62, and a checksum of six characters. The
 * prefix lets scanners find a leaked token. With the checksum, a mistyped token is refused without a query.
 *
 * The operator may choose the first token: any text of 16 to 255 visible characters that does not begin with
 * `trib_`.
 */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefix = 'trib_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretChars = 43
const checksumChars = 6
const generated = new RegExp(`^${prefix}[0-9A-Za-z]{${secretChars + checksumChars}}$`)
const chosen = /^[!-~]{16,255}$/

/** A new token: 256 random bits, alphanumeric, so that a double click selects all of it. */
export function newTokenText(): string {
  const secret = inBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), secretChars)
  return prefix + secret + checksumOf(secret)
}

/** Whether a text has the form of a token, with a correct checksum if it has one. Needs no database. */
export function isTokenText(text: string): boolean {
  if (!text.startsWith(prefix)) return chosen.test(text)
  if (!generated.test(text)) return false
  const secret = text.slice(prefix.length, -checksumChars)
  return text.slice(-checksumChars) === checksumOf(secret)
}

/**
 * Whether a text has the form of a JSON Web Token, signed or not. Our own tokens never begin like this, and a
 * token chosen by an operator is unlikely to.
 */
export const isJsonWebToken = (text: string): boolean => /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(text)

/** The hash that is stored. The text has 256 random bits, so a slow hash would add nothing. */
export const hashToken = (text: string): Buffer => hash('sha256', text, 'buffer')

/** The part of the text that a list of tokens shows. */
export const hintOf = (text: string): string => text.slice(-4)

const checksumOf = (secret: string): string => inBase62(BigInt(crc32(prefix + secret)), checksumChars)

function inBase62(value: bigint, chars: number): string {
  let rest = value
  let text = ''
  while (text.length < chars) {
    text = alphabet.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text
}
