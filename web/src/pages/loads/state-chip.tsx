/** The state of a load in words, with what was rejected; colour only repeats them. */
import type { Load } from '../../api/loads.ts'
import { loadTexts as words } from '../../texts/loads.ts'
import { outcomeOf } from './verdicts.ts'

export const StateChip = ({ load }: { load: Load }) => {
  const { tone, rejected, wouldFail } = outcomeOf(load)
  const parts = [
    ...(load.dryRun ? [words.dryRun] : []),
    load.dryRun && load.state === 'applying'
      ? words.dryRunApplying
      : (words.states[load.state] ?? load.state),
    ...(wouldFail ? [words.wouldFail] : []),
    ...(rejected === null ? [] : [words.rejectedOf(rejected === 'all', load.counts.rejected, load.dryRun)])
  ]
  return (
    <span class={`chip ${tone}`} data-state={load.state}>
      {parts.join(' · ')}
    </span>
  )
}
