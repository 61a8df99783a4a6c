/** The verdicts of a load as a bar of segments, each with its number. */
import type { Load } from '../../api/loads.ts'
import { loadTexts as words } from '../../texts/loads.ts'
import { hasEnded, percentDone, segmentsOf } from './verdicts.ts'

export const VerdictBar = ({
  load,
  isThin = false
}: {
  load: Pick<Load, 'counts' | 'dryRun' | 'state'>
  isThin?: boolean
}) => {
  const { counts } = load
  const segments = segmentsOf(counts)
  const verdicts = {
    ...(load.dryRun ? words.verdictsOfDryRun : words.verdicts),
    // After the end, nothing waits any more.
    ...(hasEnded(load) ? { waiting: words.leftOut } : {})
  }
  return (
    <div class={isThin ? 'verdicts thin' : 'verdicts'}>
      <div
        class="verdict-bar"
        role="img"
        aria-label={[
          words.barLabel(percentDone(counts)),
          ...segments.map(({ kind, count }) => words.verdict(verdicts[kind], count))
        ].join(', ')}
        data-percent={percentDone(counts)}
      >
        {segments.map(({ kind, count, percent }) => (
          <span
            key={kind}
            class={`segment ${kind}`}
            style={{ width: `${percent}%` }}
            data-segment={kind}
            data-count={count}
          />
        ))}
      </div>
      {!isThin && (
        <ul class="verdict-legend">
          {segments.map(({ kind, count }) => (
            <li key={kind}>
              <span class={`swatch ${kind}`} aria-hidden="true" />
              {words.verdict(verdicts[kind], count)}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
