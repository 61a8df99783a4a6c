/** The state of runs: of one as a chip with its time, of the last ones as a strip of bars. */
import { assetAddress } from '../address.ts'
import type { RunOf, RunOfJob } from '../api/queries.ts'
import { assetTexts as words } from '../texts/asset.ts'
import { Ago, agoText } from './when.tsx'

const kinds: { readonly [state: string]: string } = { COMPLETE: 'good', FAIL: 'bad', ABORT: 'warn' }
const kindOf = (state: string | null): string => kinds[state ?? ''] ?? ''

export const StateOf = ({ state }: { state: string | null }) => (
  <span class={`chip ${kindOf(state)}`}>{words.runState(state)}</span>
)

/** The last run, which leads to the runs of its job. */
export const LastRun = ({ run, tab }: { run: RunOfJob; tab?: 0 | -1 }) =>
  run.startedAt !== null && run.job ? (
    <a class="last-run" href={assetAddress(run.job.urn, { tab: 'runs' })} tabIndex={tab}>
      <StateOf state={run.state} /> <Ago millis={run.endedAt ?? run.startedAt} />
    </a>
  ) : null

/** `3 min 20 s`. */
export function durationText({ startedAt, endedAt }: RunOf): string {
  if (startedAt === null || endedAt === null) return ''
  const seconds = Math.round((endedAt - startedAt) / 1_000)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}

const barsCount = 10

/** The oldest at the left, each as high as it took time. */
export function RunStrip({ runs }: { runs: readonly RunOf[] }) {
  const shown = runs.slice(0, barsCount).toReversed()
  const lengths = shown.map(({ startedAt, endedAt }) => (endedAt ?? 0) - (startedAt ?? 0))
  const longest = Math.max(1, ...lengths)
  return (
    <span
      class="run-strip"
      role="img"
      aria-label={words.runs.strip(
        shown.length,
        shown.filter(({ state }) => state === 'FAIL' || state === 'ABORT').length
      )}
    >
      {shown.map((run, place) => (
        <span
          key={place}
          class={kindOf(run.state)}
          style={{ height: `${30 + (70 * Math.max(0, lengths[place] ?? 0)) / longest}%` }}
          title={[words.runState(run.state), run.startedAt && agoText(run.startedAt), durationText(run)]
            .filter(Boolean)
            .join(' · ')}
        />
      ))}
    </span>
  )
}
