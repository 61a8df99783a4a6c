/** Words of the map of lineage. */
import { counted, number } from './numbers.ts'

const edges = (count: number): string => counted(count, 'edge', 'edges')

export const mapTexts = {
  title: 'Map',
  all: 'Lineage of the whole catalog',
  path: 'Place on the map',
  open: 'Open the map',
  noDomain: 'No domain',
  noPlatform: 'No platform',
  noSchema: 'No schema',
  in: (name: string): string => `Inside ${name}`,
  found: (boxes: string, assets: string, count: number): string =>
    `${boxes === assets ? boxes : `${boxes} with ${assets} on the map`}, ${edges(count)} between them`,
  kinds: {
    DOMAIN: (count: number): string => counted(count, 'domain', 'domains'),
    SYSTEM: (count: number): string => counted(count, 'system', 'systems'),
    SCHEMA: (count: number): string => counted(count, 'schema', 'schemas'),
    ASSET: (count: number): string => counted(count, 'asset', 'assets'),
    MIXED: (count: number): string => counted(count, 'box', 'boxes')
  },
  page: (first: number, last: number, total: number): string =>
    `Showing ${number(first)} to ${number(last)} of ${number(total)}, those with the most lineage first.`,
  cut: (shown: number, total: number): string =>
    `Only the ${number(shown)} strongest of ${counted(total, 'connection', 'connections')} are drawn.`,
  previous: 'Previous',
  next: 'Next',
  outside: (into: number, out: number): string =>
    [into > 0 && `${number(into)} in`, out > 0 && `${number(out)} out`].filter(Boolean).join(', '),
  outsideHint: (into: number, out: number): string =>
    `From outside of this place: ${edges(into)}. To outside: ${edges(out)}.`,
  none: 'No asset is here.',
  noneHint: 'It may have been moved or removed since.',
  empty: 'The map is empty: the catalog has no assets yet.',
  noEdges: 'No lineage leads from one of these boxes to another.',
  edge: (from: string, to: string, count: number): string => `${from} → ${to}: ${edges(count)}`,
  from: 'From',
  to: 'To',
  inside: (count: number): string => `${edges(count)} inside`,
  picture: (boxes: number, count: number): string =>
    `${counted(boxes, 'box', 'boxes')}, ${counted(count, 'connection', 'connections')}. The same as a list follows.`,
  list: 'As a list',
  levels: 'Levels of the map',
  level: { DOMAIN: 'Domains', SYSTEM: 'Systems', SCHEMA: 'Schemas', ASSET: 'Assets' },
  showNone: (assets: string): string => `Show what is in no domain (${assets})`,
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fit: 'Show all'
}
