/** Words of the page of domains. */
import { counted, number } from './numbers.ts'

const assets = (value: number): string => counted(value, 'asset', 'assets')

export const domainTexts = {
  title: 'Domains',
  all: 'All domains',
  tree: 'Domains',
  filter: 'Find a domain',
  found: (shown: number, total: number): string =>
    shown < total
      ? `Showing ${number(shown)} of ${number(total)} domains`
      : `${number(total)} ${total === 1 ? 'domain' : 'domains'} found`,
  notFound: 'No domain has these words in its name.',
  levelCut: (shown: number, total: number): string =>
    `Showing ${number(shown)} of ${number(total)} domains of the top level. Find the others by name.`,
  includeSub: 'Include sub-domains',
  /** Follows a number that is already shown. */
  assetsOf: (count: number): string => (count === 1 ? 'asset' : 'assets'),
  create: 'New domain',
  actions: 'More',
  createIn: 'New sub-domain',
  name: 'Name',
  description: 'Description',
  parent: 'In',
  top: 'Top level',
  toTop: 'Drop here for the top level',
  created: (name: string): string => `${name} is created.`,
  noDomains: 'There are no domains yet.',
  why: 'Domains group assets by the team or subject that they belong to: Sales, Finance, Operations. They can be nested, and an asset is in at most one.',
  chooseOne: 'Choose a domain to see what is in it.',
  counts: (direct: number, whole: number): string =>
    `${number(direct)} direct, ${number(whole)} with sub-domains`,
  path: 'Path',
  noDescription: 'No description.',
  noOwner: 'Nobody',
  edit: 'Rename or describe',
  editTitle: (name: string): string => `Rename or describe ${name}`,
  save: 'Save',
  saved: 'Saved.',
  move: 'Move',
  moveTitle: (name: string): string => `Move ${name}`,
  moveTo: 'New place',
  moved: (name: string, to: string): string => `${name} is now in ${to}.`,
  movedToTop: (name: string): string => `${name} is now at the top level.`,
  delete: 'Delete',
  deleteTitle: (name: string): string => `Delete ${name}?`,
  deleteHasChildren: (count: number): string =>
    `It has ${number(count)} ${count === 1 ? 'sub-domain' : 'sub-domains'}. Move or delete ${count === 1 ? 'it' : 'them'} first.`,
  deleteTouches: (count: number): string =>
    count === 0 ? 'It contains no assets.' : `${assets(count)} will be in no domain:`,
  deleteMore: (count: number): string => `and ${number(count)} more`,
  deleteRules: (count: number): string =>
    count === 0
      ? ''
      : `${number(count)} domain ${count === 1 ? 'rule puts' : 'rules put'} new assets here and will be skipped.`,
  deleted: (name: string): string => `${name} is deleted.`,
  assets: 'Assets',
  assetFilter: 'Find among these assets',
  noAssets: 'No asset is in this domain.',
  noAssetsDirect: 'No asset is directly in this domain.',
  noneFound: 'No asset here has these words.',
  add: 'Add assets',
  addTitle: (name: string): string => `Add assets to ${name}`,
  addSearch: 'Search assets',
  addFilter: (field: string): string =>
    field === '_entityType' ? 'Type' : field === 'platform' ? 'Platform' : 'Domain now',
  addAction: (count: number): string => `Add ${assets(count)}`,
  addNone: 'Nothing matches.',
  addShown: (shown: number, total: string): string => `Showing ${number(shown)} of ${total}`,
  leaves: 'An asset leaves the domain that it is in now.',
  assigned: (count: number, name: string): string => `${assets(count)} now in ${name}.`,
  chosen: (count: number): string => `${number(count)} chosen`,
  tooManyChosen: (maximum: number): string => `At most ${number(maximum)} at a time.`,
  set: 'Set domain',
  setTitle: (count: number): string => `Set the domain of ${assets(count)}`,
  unassign: 'Take out of the domain',
  unassigned: (count: number): string => `${assets(count)} taken out.`,
  heads: {
    name: 'Name',
    type: 'Type',
    domain: 'Domain',
    owners: 'Owners',
    usedBy: 'Used by',
    lastRun: 'Last run'
  },
  map: 'Domain lineage',
  mapOf: (name: string): string => `Lineage of ${name} with other domains`,
  mapWithin: (name: string): string => `Lineage between the sub-domains of ${name}`,
  mapCut: (shown: number, total: number): string =>
    `Showing the ${number(shown)} strongest of ${number(total)} connections`,
  mapNone: 'No lineage crosses domains.',
  mapNoneOf: 'No lineage connects it with another domain.',
  mapNoneWithin: 'No lineage leads from one sub-domain to another.',
  missing: (urn: string): string => `The domain ${urn} does not exist.`,
  missingHint: 'It may have been deleted. Choose another in the tree.',
  pick: 'Find the domain',
  pickCut: (shown: number, total: number): string =>
    `${number(shown)} of ${number(total)} domains are listed. Type a part of the name to find the others.`,
  pickNone: 'No domain matches.'
}
