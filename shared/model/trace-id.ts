/** The id by which a client follows a write (W3C trace context): the time when it was made, and random digits. */
import { randomUUID } from 'node:crypto'

const hexOfTime = 16

/** randomUUID draws its random bytes in advance; asking the system for 8 bytes at each request was a twentieth of a small read. */
const eightBytesInHex = (): string => {
  const hex = randomUUID().replaceAll('-', '')
  // The fixed bits of a UUID are in digits 12 and 16.
  return hex.slice(0, 8) + hex.slice(24)
}

/** 32 hexadecimal digits: epoch microseconds in the first 16, from which DataHub's clients read the time. */
export const newTraceId = (): string =>
  (Date.now() * 1_000).toString(16).padStart(hexOfTime, '0') + eightBytesInHex()

export const isTraceId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text)

/** When the id was given, in epoch milliseconds. */
export const timeOfTrace = (traceId: string): number =>
  Math.floor(Number.parseInt(traceId.slice(0, hexOfTime), 16) / 1_000)

/** The value of the header `traceparent`. */
export const traceparent = (traceId: string): string => `00-${traceId}-${traceId.slice(hexOfTime)}-01`
