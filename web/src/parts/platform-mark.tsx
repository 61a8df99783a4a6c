/** The mark of a platform: its icon on a square of its colour, or two letters where it has no free icon. */
import { markOf } from './platforms.ts'

/** For drawings: the mark with its upper left corner at a place in their own coordinates. */
export const PlatformPath = ({
  platform,
  x,
  y,
  size
}: {
  platform: string
  x: number
  y: number
  size: number
}) => {
  const { colour, ink, path, letters } = markOf(platform)
  return (
    <g class="mark" fill={ink} transform={`translate(${x} ${y}) scale(${size / 24})`}>
      <rect width="24" height="24" rx="5" fill={colour} />
      {letters === '' ? (
        <path d={path} transform="translate(4 4) scale(0.6667)" />
      ) : (
        <text x="12" y="16.5" text-anchor="middle" font-size="12" font-weight="600">
          {letters}
        </text>
      )}
    </g>
  )
}

/** Hidden from readers of the screen, because the platform's name is beside it. */
export const PlatformMark = ({ platform, size = 20 }: { platform: string; size?: number }) => (
  <svg class="platform-mark" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
    <PlatformPath platform={platform} x={0} y={0} size={24} />
  </svg>
)
