/** The line that shows how far a load is, for a terminal of any width, or for a log. */
import { bytesText, count, leftText } from '../quantity.ts'
import { cutMiddle, widthOf } from '../text-width.ts'
import type { LoadCounts } from './load-view.ts'
import type { Pace } from './pace.ts'

export type Sending = {
  name: string
  /** Null if the size is unknown, as that of standard input. */
  totalBytes: number | null
  bytes: number
  /** Null if they are not counted. */
  lines: number | null
}

/** A part with the lowest rank is left out first; one without stays. */
type Part = { text: string; rank?: number }

const barChars = 20
const nameLeastWidth = 10
/** In a narrower terminal the name of the file is left out. */
const columnsWithName = 60

/** `columns` is null for a log. */
export function sendingLine(
  { name, totalBytes, bytes, lines }: Sending,
  pace: Pace,
  columns: number | null
): string {
  const speed = pace.perSecond()
  const amount = bytesText(bytes)
  const parts: Part[] = [
    totalBytes === null
      ? { text: `${amount} sent` }
      : { text: `${amount} of ${bytesText(totalBytes)} sent`, rank: 3 },
    ...(lines === null ? [] : [{ text: `${count(lines)} lines`, rank: 1 }]),
    ...(speed === null ? [] : [{ text: `${bytesText(speed)}/s`, rank: 2 }]),
    ...left(pace, totalBytes)
  ]
  if (columns === null) return `${name}: ${joined(parts)}`
  const share = totalBytes === null ? null : bytes / Math.max(totalBytes, 1)
  if (columns < columnsWithName) return fitting(share, parts, columns)
  const rest = fitting(share, parts, columns - nameLeastWidth - 2)
  return `${cutMiddle(name, columns - widthOf(rest) - 2)}: ${rest}`
}

/** `columns` is null for a log. */
export function applyingLine(
  { received, applied, unchanged, rejected }: LoadCounts,
  pace: Pace,
  columns: number | null
): string {
  const settled = applied + unchanged + rejected
  const speed = pace.perSecond()
  const parts: Part[] = [
    { text: `${count(settled)} of ${count(received)} records`, rank: 3 },
    { text: `${count(applied)} applied`, rank: 1 },
    { text: `${count(unchanged)} unchanged`, rank: 1 },
    // the only one of the three that asks for something to be done
    { text: `${count(rejected)} rejected`, rank: rejected === 0 ? 1 : 5 },
    ...(speed === null ? [] : [{ text: `${count(Math.round(speed))}/s`, rank: 2 }]),
    ...left(pace, received)
  ]
  return columns === null ? joined(parts) : fitting(settled / Math.max(received, 1), parts, columns)
}

/** Nothing once all is done. */
function left(pace: Pace, total: number | null): Part[] {
  const ms = total === null ? null : pace.leftMs(total)
  return ms === null || ms === 0 ? [] : [{ text: leftText(ms), rank: 4 }]
}

const joined = (parts: readonly Part[]): string => parts.map(({ text }) => text).join(', ')

/** A bar, the share, and as many of the parts as fit beside it. */
function fitting(share: number | null, parts: readonly Part[], columns: number): string {
  const choices = [0, 1, 2, 3, 4, 5].map((gone) =>
    joined(parts.filter(({ rank }) => rank === undefined || rank > gone))
  )
  const heads =
    share === null
      ? ['']
      : [`${bar(share, barChars)} ${percent(share)} `, `${bar(share, barChars / 2)} ${percent(share)} `]
  const lines = choices.flatMap((text) => heads.map((head) => `${head}${text}`.trimEnd()))
  return (
    lines.find((line) => widthOf(line) <= columns) ??
    (share === null ? (choices.at(-1) ?? '') : percent(share))
  )
}

/** 100 % only at the end. */
const percent = (share: number): string => `${Math.floor(Math.min(Math.max(share, 0), 1) * 100)}%`.padStart(4)

function bar(share: number, chars: number): string {
  const full = Math.floor(Math.min(Math.max(share, 0), 1) * chars)
  return `[${'#'.repeat(full)}${'.'.repeat(chars - full)}]`
}
