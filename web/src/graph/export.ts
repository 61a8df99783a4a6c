/** The whole picture as a file: a self-contained SVG, and the cards as CSV. */
import { shownPath } from '../api/column-urn.ts'
import { markOf } from '../parts/platforms.ts'
import type { Colours } from './colours.ts'
import { factsOf, fitted, isAbsent } from './labels.ts'
import type { Picture } from './picture.ts'
import { heightOf, sizes, type PlacedItem, type Scene } from './scene.ts'
import { lineageTexts as words } from '../texts/lineage.ts'

/** Colours of the theme in which the picture is drawn. */
export type Palette = {
  page: string
  surface: string
  line: string
  text: string
  soft: string
  edge: string
  accent: string
  hues: readonly string[]
}

const margin = 32

const escaped = (text: string): string =>
  text
    .replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)
    .replace(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu, '\ufffd')

/** Every card and every edge, even those outside the screen. Refers to nothing outside the file. */
export function svgOf(scene: Scene, title: string, colours: Colours, palette: Palette): string {
  const { x, y, width, height } = scene.bounds
  const line = (path: string, more: string): string =>
    `<path d="${path}" fill="none" stroke="${palette.edge}" ${more}/>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x - margin} ${y - margin - 24} ${width + 2 * margin} ${height + 2 * margin + 24}" width="${width + 2 * margin}" height="${height + 2 * margin + 24}" font-family="system-ui, sans-serif">`,
    `<title>${escaped(title)}</title>`,
    `<rect x="${x - margin}" y="${y - margin - 24}" width="${width + 2 * margin}" height="${height + 2 * margin + 24}" fill="${palette.page}"/>`,
    `<text x="${x}" y="${y - margin + 4}" font-size="14" font-weight="600" fill="${palette.text}">${escaped(title)}</text>`,
    ...scene.groups.map(
      ({ name, count, box }) =>
        `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="10" fill="none" stroke="${palette.line}"/>` +
        `<text x="${box.x + 12}" y="${box.y + 22}" font-size="12" fill="${palette.soft}">${escaped(words.group(name, count))}</text>`
    ),
    ...scene.edges.map(({ path, isLoop, edge }) =>
      line(
        path,
        isLoop || edge.kind === 'stack' ? 'stroke-dasharray="6 5" stroke-width="1.4"' : 'stroke-width="1.4"'
      )
    ),
    ...scene.columnEdges.map(({ path }) => line(path, 'stroke-width="0.8" stroke-opacity="0.7"')),
    ...scene.items.map((placed) => itemSvg(placed, colours, palette)),
    '</svg>'
  ].join('\n')
}

function itemSvg({ item, box }: PlacedItem, colours: Colours, palette: Palette): string {
  const rect = `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${heightOf(item)}" rx="8" fill="${palette.surface}" stroke="${palette.line}"/>`
  const text = (content: string, dx: number, dy: number, size: number, more: string): string =>
    `<text x="${box.x + dx}" y="${box.y + dy}" font-size="${size}" ${more}>${escaped(content)}</text>`
  if (item.kind === 'stack')
    return `<g data-item="stack">${rect}${text(words.stack[item.direction](item.count), 16, 25, 12, `fill="${palette.soft}"`)}</g>`
  if (item.kind === 'group')
    return `<g data-item="group">${rect}${text(words.group(item.name, item.count), 16, 33, 13, `fill="${palette.text}"`)}</g>`
  const { node } = item
  const { card } = node
  const colour = colours.of(node)
  const frame =
    node.side === 'START'
      ? rect.replace(`stroke="${palette.line}"`, `stroke="${palette.accent}" stroke-width="2.5"`)
      : rect
  const struck = node.isRemoved ? 'text-decoration="line-through" ' : ''
  return [
    `<g data-item="card" data-urn="${escaped(item.id)}"><title>${escaped(item.id)}</title>`,
    isAbsent(node) ? frame.replace('/>', ' stroke-dasharray="5 4"/>') : frame,
    `<rect x="${box.x + 1}" y="${box.y + 10}" width="4" height="${sizes.header - 20}" rx="2" fill="${colour ? (palette.hues[colour.hue] ?? palette.line) : palette.line}"/>`,
    card.platform === null ? '' : markSvg(card.platform, box.x + 14, box.y + 14),
    card.qualifier && text(fitted(card.qualifier, 200, 11.5), 49, 23, 11.5, `fill="${palette.soft}"`),
    text(
      fitted(card.name, 200, 14.5, 600),
      49,
      card.qualifier === '' ? 32 : 40,
      14.5,
      `${struck}font-weight="600" fill="${palette.text}"`
    ),
    text(fitted(factsOf(node), sizes.width - 28, 11.5), 14, 59, 11.5, `fill="${palette.soft}"`),
    ...item.rows.map(({ path }, place) =>
      text(
        fitted(shownPath(path), 210, 11.5),
        16,
        sizes.header + sizes.rowsTop + place * sizes.row + 15,
        11.5,
        `fill="${palette.text}"`
      )
    ),
    item.moreRows > 0
      ? text(
          words.moreColumns(item.moreRows),
          16,
          sizes.header + sizes.rowsTop + item.rows.length * sizes.row + 15,
          11.5,
          `fill="${palette.soft}"`
        )
      : '',
    '</g>'
  ].join('')
}

/** The mark that `PlatformPath` draws, 26 pixels wide. */
function markSvg(platform: string, x: number, y: number): string {
  const { colour, ink, path, letters } = markOf(platform)
  const inside =
    letters === ''
      ? `<path d="${path}" fill="${ink}" transform="translate(4 4) scale(0.6667)"/>`
      : `<text x="12" y="16.5" text-anchor="middle" font-size="12" font-weight="600" fill="${ink}">${escaped(letters)}</text>`
  return `<g transform="translate(${x} ${y}) scale(1.0833)"><rect width="24" height="24" rx="5" fill="${colour}"/>${inside}</g>`
}

/** As shared/formats/csv-cells.ts, for all texts that a spreadsheet would read as a formula. */
const startsAsFormula = /^'*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/

/** A cell that a spreadsheet would read as a formula begins with an apostrophe. */
export function csvCell(value: string | number | null): string {
  const text = value === null ? '' : String(value)
  const safe = typeof value === 'string' && startsAsFormula.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const csvHead = [
  'urn',
  'name',
  'type',
  'platform',
  'environment',
  'domain',
  'side',
  'degree',
  'upstream',
  'downstream'
]

/**
 * One line per shown asset, including those in closed groups, in the order of the answer. CRLF, as in RFC
 * 4180.
 */
export const csvOf = ({ cards }: Pick<Picture, 'cards'>): string =>
  [
    csvHead,
    ...cards.map(({ id, node }) => [
      id,
      node.card.name,
      node.card.type,
      node.card.platform,
      node.card.environment,
      node.card.domain?.name ?? null,
      node.side,
      node.degree,
      node.upstreamCount,
      node.downstreamCount
    ])
  ]
    .map((cells) => `${cells.map(csvCell).join(',')}\r\n`)
    .join('')
