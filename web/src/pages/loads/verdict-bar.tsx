/** The verdicts of a load as a bar of segments, each with its number. */
import type { LoadCounts } from '../../api/loads.ts'
import { loadTexts as words } from '../../texts/loads.ts'
import { percentDone, segmentsOf } from './verdicts.ts'

export const VerdictBar = ({ counts, isThin = false }: { counts: LoadCounts; isThin?: boolean }) => {
  const segments = segmentsOf(counts)
  return (
    <div class={isThin ? 'verdicts thin' : 'verdicts'}>
      <div
        class="verdict-bar"
        role="img"
        aria-label={[
          words.barLabel(percentDone(counts)),
          ...segments.map(({ kind, count }) => words.verdict(words.verdicts[kind], count))
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
              {words.verdict(words.verdicts[kind], count)}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
