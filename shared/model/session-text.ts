/**
 * The texts that a browser signs in and stays signed in with: the id of a session, and the one-time code of a link.
 *
 * Both are random, long enough that nobody guesses one, and stored as a hash: who reads the database cannot use them.
 */
import { hash, randomBytes } from 'node:crypto'

const idBytes = 32
const codeBytes = 16

/** 256 random bits. */
export const newSessionId = (): string => randomBytes(idBytes).toString('base64url')

/** 128 random bits: it is valid for minutes. Terminals take all of it for a part of the link. */
export const newSignInCode = (): string => randomBytes(codeBytes).toString('hex')

/** Whether a text can be one at all; needs no database. */
export const isSessionId = (text: string): boolean => /^[\w-]{43}$/.test(text)
export const isSignInCode = (text: string): boolean => /^[0-9a-f]{32}$/.test(text)

/** What is stored of either. */
export const hashSessionText = (text: string): Buffer => hash('sha256', text, 'buffer')
