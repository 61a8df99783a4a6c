/**
 * How a running server proves to the command line on its own machine that it is the one that wrote its address beside
 * the token, before the token is sent to it.
 *
 * The client sends a nonce; the server answers with an HMAC over the nonce and the address at which it was reached. The
 * key is made at each start and is only in the server's record, a file that only its user can read. This protects
 * against a program that took the port of the server, or that listens at an address which somebody supposes to be the
 * server's, and imitates everything that is public: it never learns the key. Such a program cannot pass the nonce on
 * to the real server either, because that one vouches for the address of its own socket, and the client compares with
 * the address that it is connected to. The token then goes over the very connection that was proved.
 *
 * It does not protect against those who can read the record (they can read the token too), or who can redirect packets
 * between the two sockets, as root can. Across a port mapping or a tunnel the addresses differ, so nothing is proved
 * there and the token must be given.
 *
 * The proof is useless for anything else: the text begins with a context, the nonce has a fixed form, nobody accepts a
 * proof for a nonce that is not their own, and the key is used for nothing else.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The path of the route, below the address of a server. */
export const proofPath = 'instance/proof'

const context = 'tributary instance proof 1'
const secretBytes = 32

const secretPattern = /^[0-9a-f]{64}$/

/** 256 random bits in hexadecimal: a key, or a nonce. */
export const newSecret = (): string => randomBytes(secretBytes).toString('hex')

export const isSecret = (value: unknown): value is string =>
  typeof value === 'string' && secretPattern.test(value)

/** One end of a TCP connection, as Node's sockets name it. */
export type SocketAddress = { address: string | undefined; port: number | undefined }

/** `at` is the server's end of the connection on which the nonce came. */
export function proofOf(key: string, nonce: string, { address = '', port = 0 }: SocketAddress): string {
  const text = JSON.stringify([context, nonce, plainAddress(address), port])
  return createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('hex')
}

/** Compares in constant time. */
export function isProof(value: unknown, key: string, nonce: string, at: SocketAddress): boolean {
  return (
    isSecret(value) && timingSafeEqual(Buffer.from(value, 'hex'), Buffer.from(proofOf(key, nonce, at), 'hex'))
  )
}

/** A socket for both families names an IPv4 address in the form of IPv6. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, '')
