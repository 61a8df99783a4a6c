/** The state of a load as a word; colour only repeats it. */
import type { Load } from '../../api/loads.ts'
import { loadTexts as words } from '../../texts/loads.ts'

const kindOf = ({ state, counts }: Pick<Load, 'state' | 'counts'>): string =>
  state === 'done'
    ? counts.rejected > 0
      ? 'warn'
      : 'good'
    : state === 'failed' || state === 'aborted'
      ? 'bad'
      : ''

export const StateChip = ({ load }: { load: Load }) => (
  <span class={`chip ${kindOf(load)}`} data-state={load.state}>
    {words.states[load.state] ?? load.state}
    {load.dryRun ? ` · ${words.dryRun}` : ''}
  </span>
)
