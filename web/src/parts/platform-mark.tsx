/** The mark of a platform: its icon on a square of its colour, or two letters where it has no free icon. */
import { platformIcons } from './platform-icons.ts'

/** `letters` is empty if there is an icon. */
export type Mark = { title: string; colour: string; ink: string; path: string; letters: string }

/** How people write the names of platforms that have no icon here. */
const titles: { readonly [platform: string]: string } = {
  abs: 'Azure Blob Storage',
  athena: 'Athena',
  dagster: 'Dagster',
  dbt: 'dbt',
  'delta-lake': 'Delta Lake',
  dynamodb: 'DynamoDB',
  feast: 'Feast',
  fivetran: 'Fivetran',
  glue: 'Glue',
  hdfs: 'HDFS',
  hive: 'Hive',
  iceberg: 'Iceberg',
  kinesis: 'Kinesis',
  mode: 'Mode',
  mssql: 'SQL Server',
  oracle: 'Oracle',
  powerbi: 'Power BI',
  redshift: 'Redshift',
  s3: 'S3',
  sagemaker: 'SageMaker',
  salesforce: 'Salesforce',
  sigma: 'Sigma',
  tableau: 'Tableau',
  vertica: 'Vertica'
}

/** How people write the name of the platform; as it is, if it is not known. */
export const platformTitle = (platform: string): string =>
  platformIcons[platform]?.title.replace(/^Apache |^Google (?=BigQuery)/, '') ?? titles[platform] ?? platform

/** Luminance above which dark ink is read better than white. */
const brightFrom = 0.4

export function markOf(platform: string): Mark {
  const icon = platformIcons[platform]
  const title = platformTitle(platform)
  const colour = icon ? `#${icon.hex}` : `hsl(${hueOf(platform)} 45% 38%)`
  const isBright = icon !== undefined && luminanceOf(icon.hex) > brightFrom
  return {
    title,
    colour,
    ink: isBright ? '#17202b' : '#ffffff',
    path: icon?.path ?? '',
    letters: icon ? '' : title.replace(/[^\p{L}\p{N}]/gu, '').slice(0, 2)
  }
}

function hueOf(text: string): number {
  let hash = 0
  for (const char of text) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 360
  return hash
}

/** The relative luminance of WCAG 2.2, from 0 to 1. */
function luminanceOf(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

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
    <g class="mark" transform={`translate(${x} ${y}) scale(${size / 24})`}>
      <rect width="24" height="24" rx="5" fill={colour} />
      {letters === '' ? (
        <path d={path} fill={ink} transform="translate(4 4) scale(0.6667)" />
      ) : (
        <text x="12" y="16.5" text-anchor="middle" font-size="12" font-weight="600" fill={ink}>
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
