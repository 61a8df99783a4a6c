/**
 * Makes the secrets of a browser's sign-in: the id of a session, and the one-time code of a link.
 *
 * Both are random, too long to guess, and stored as hashes, so that a reader of the database cannot use them.
 */
import { hash, randomBytes } from 'node:crypto'

const idBytes = 32
const codeBytes = 16

/** A new id with 256 random bits. */
export const newSessionId = (): string => randomBytes(idBytes).toString('base64url')

/**
 * A new code with 128 random bits, because it is valid only for minutes. Hexadecimal, so that terminals
 * recognise the whole link.
 */
export const newSignInCode = (): string => randomBytes(codeBytes).toString('hex')

/** Whether a text has the form of a session id. Needs no database. */
export const isSessionId = (text: string): boolean => /^[\w-]{43}$/.test(text)
export const isSignInCode = (text: string): boolean => /^[0-9a-f]{32}$/.test(text)

/** The stored hash of a session id or a code. */
export const hashSessionText = (text: string): Buffer => hash('sha256', text, 'buffer')
