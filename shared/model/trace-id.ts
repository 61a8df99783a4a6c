/** The id that a client follows a write by (W3C trace context): the time it was given, and chance. */
import { randomFillSync } from 'node:crypto'

const hexOfTime = 16

/** Chance in advance: to ask the system for 8 bytes at each request was a twentieth of a small read. */
const chance = Buffer.alloc(8_192)
let chanceUsed = chance.length

function eightBytesInHex(): string {
  if (chanceUsed === chance.length) {
    randomFillSync(chance)
    chanceUsed = 0
  }
  chanceUsed += 8
  return chance.toString('hex', chanceUsed - 8, chanceUsed)
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
