/** Empty cards, shown while the first answer is on its way; not shown for fast answers. */
import { useIsLate } from '../parts/states.tsx'
import { texts } from '../texts.ts'

const places = [
  [40, 150],
  [412, 60],
  [412, 150],
  [412, 240],
  [784, 105],
  [784, 195]
] as const

export function Skeleton() {
  const isShown = useIsLate()
  return (
    <div class="lineage" role="status">
      <span class="visually-hidden">{isShown ? texts.state.loading : ''}</span>
      {isShown && (
        <svg class="skeleton" viewBox="0 0 1060 340" aria-hidden="true">
          {places.map(([x, y]) => (
            <rect key={`${x} ${y}`} x={x} y={y} width="240" height="56" rx="8" />
          ))}
        </svg>
      )}
    </div>
  )
}
