/** The names that people use for platforms, and what their marks are drawn from. */
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
