/** Words of the impact table. */
import { counted, number } from './numbers.ts'

export const impactTexts = {
  label: 'Impact',
  answer: (count: number, isUp: boolean, isOfColumn: boolean): string =>
    [isOfColumn ? number(count) : counted(count, 'asset', 'assets'), isUp ? 'upstream' : 'downstream'].join(
      ' '
    ),
  filters: 'Filters',
  direction: 'Direction',
  down: 'Downstream',
  up: 'Upstream',
  downHint: 'What is derived from it',
  upHint: 'What it is derived from',
  degree: 'Hops',
  degrees: { '1': '1 hop', '2': '2 hops', '3+': '3 or more hops' },
  chip: (name: string, count: number): string => `${name} (${number(count)})`,
  column: 'Column',
  wholeAsset: 'The whole asset',
  text: 'Text in name, description or URN',
  textHint: 'Name, description, URN',
  types: 'Type',
  platforms: 'Platform',
  domain: 'Domain',
  owner: 'Owner',
  anyDomain: 'Any domain',
  noDomain: 'In no domain',
  option: (name: string, count: number): string => `${name} (${number(count)})`,
  domainsAffected: (count: number): string =>
    `${number(count)} ${count === 1 ? 'domain' : 'domains'} affected`,
  ownersAffected: (count: number): string => `${number(count)} ${count === 1 ? 'owner' : 'owners'} affected`,
  countingOwners: 'Counting the owners …',
  withoutOwner: (count: number): string => `No owner (${number(count)})`,
  ownersOfLoaded: (loaded: number, total: number): string =>
    loaded < total ? `Of the ${number(loaded)} rows loaded so far.` : '',
  clear: 'Clear filters',
  clearOwner: (name: string): string => `Owner ${name}`,
  exportCsv: (count: number): string => `Export CSV (${number(count)} ${count === 1 ? 'row' : 'rows'})`,
  loadingMore: 'loading more',
  tooMany: (maximum: number): string => `The table shows at most ${number(maximum)} rows. The CSV has all.`,
  partial: 'A limit of the server ended the walk: there is more than is listed.',
  none: 'Nothing matches.',
  noLineage: { down: 'No downstream is known.', up: 'No upstream is known.' },
  noneHint: 'Remove a filter, or look in the other direction.',
  heads: {
    degree: 'Hops',
    name: 'Name',
    type: 'Type',
    platform: 'Platform',
    environment: 'Env.',
    domain: 'Domain',
    owners: 'Owners',
    asset: 'Asset',
    lineage: 'Lineage'
  },
  lineageOf: (name: string): string => `Lineage of ${name}`,
  lineage: 'Lineage'
}
