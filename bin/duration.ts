/** Times as people type and read them: `30d`, `12h`, `90m`, or a date. */
import { Refusal } from './failure.ts'

const secondMs = 1_000
const minuteMs = 60_000
const unitsMs: Readonly<Record<string, number>> = {
  m: minuteMs,
  h: 60 * minuteMs,
  d: 24 * 60 * minuteMs,
  w: 7 * 24 * 60 * minuteMs
}

/** The duration in `text`, or the date in it (at midnight UTC). Throws Refusal. */
export function parseExpiry(text: string): { lifetimeMs: number } | { expiresAt: Date } {
  const lifetimeMs = durationOf(text)
  if (lifetimeMs !== null) return { lifetimeMs }
  return { expiresAt: dateOf(text) ?? refuse('--expires', '30d, 12h or 2030-01-31', text) }
}

/** The moment `text` before `now`, or the date in `text`. Throws Refusal. */
export function parseSince(text: string, now: Date): Date {
  const agoMs = durationOf(text)
  if (agoMs !== null) return new Date(now.getTime() - agoMs)
  return dateOf(text) ?? refuse('--since', '30d, 12h or 2026-01-31', text)
}

function durationOf(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? []
  const unitMs = unitsMs[unit ?? '']
  return unitMs !== undefined && Number(count) > 0 ? Number(count) * unitMs : null
}

function dateOf(text: string): Date | null {
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text) : new Date(Number.NaN)
  return Number.isNaN(date.getTime()) ? null : date
}

function refuse(option: string, examples: string, text: string): never {
  throw new Refusal(`${option} takes a time such as ${examples}, not ${text}.`)
}

const shownUnits = [
  ['d', 24 * 60 * minuteMs, 2],
  ['h', 60 * minuteMs, 2],
  ['m', minuteMs, 2],
  ['s', secondMs, 0]
] as const

/** In the largest unit that leaves two or more of it: `90m`, `47h`, `12d`. A clock that is behind gives `0s`. */
export function ageOf(ms: number): string {
  for (const [unit, unitMs, least] of shownUnits)
    if (ms >= least * unitMs) return `${Math.floor(ms / unitMs)}${unit}`
  return '0s'
}
