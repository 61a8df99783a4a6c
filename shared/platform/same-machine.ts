/** Whether a request comes from the machine that answers it. */
import type { IncomingMessage } from 'node:http'

export type Caller = Pick<IncomingMessage, 'headers'> & {
  socket: Pick<IncomingMessage['socket'], 'remoteAddress' | 'localAddress'>
}

/** False for what a proxy on this machine forwards, because it forwards requests of others. */
export function isOnThisMachine({ headers, socket: { remoteAddress = '', localAddress } }: Caller): boolean {
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
  return !isForwarded && (isLoopback(remoteAddress) || remoteAddress === localAddress)
}

const isLoopback = (address: string): boolean => address === '::1' || /^(?:::ffff:)?127\./.test(address)
