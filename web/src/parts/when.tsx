/** Times in readable form; the exact time is in the title. */
import { texts } from '../texts.ts'

export const whenText = (millis: number): string =>
  new Date(millis).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

const units = [
  ['year', 31_536_000_000],
  ['month', 2_628_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000]
] as const
const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' })

/** `3 hours ago`, in whole units of the largest that fits. */
export function agoText(millis: number, now = Date.now()): string {
  const past = now - millis
  const [unit, size] = units.find(([, each]) => Math.abs(past) >= each) ?? ['minute', 60_000]
  if (past < 60_000 && past >= 0) return texts.justNow
  return relative.format(-Math.trunc(past / size), unit)
}

/** How long ago, where that says more than the date. */
export const Ago = ({ millis }: { millis: number }) => (
  <time dateTime={new Date(millis).toISOString()} title={whenText(millis)}>
    {agoText(millis)}
  </time>
)

export const When = ({ millis }: { millis: number }) => {
  const exact = new Date(millis).toISOString()
  return (
    <time dateTime={exact} title={exact}>
      {whenText(millis)}
    </time>
  )
}
