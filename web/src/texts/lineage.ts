/** Words of the lineage view. */
import { counted, number } from './numbers.ts'

export const lineageTexts = {
  openLarge: 'Open large',
  title: (name: string): string => `Lineage of ${name}`,
  toolbar: 'What is shown',
  direction: 'Direction',
  both: 'Both sides',
  up: 'Upstream',
  down: 'Downstream',
  hops: { UPSTREAM: 'Hops upstream', DOWNSTREAM: 'Hops downstream' },
  hopsShown: {
    UPSTREAM: (hops: string): string => `↑ ${hops} ${hops === '1' ? 'hop' : 'hops'}`,
    DOWNSTREAM: (hops: string): string => `↓ ${hops} ${hops === '1' ? 'hop' : 'hops'}`
  },
  misread: (values: readonly string[]): string =>
    `The link has values that this view cannot have, so the usual ones are shown instead: ${values.join(', ')}.`,
  columns: 'Show columns',
  hideJobs: 'Hide jobs',
  groupBy: 'Group by',
  groups: { none: 'No groups', domain: 'By domain', platform: 'By platform' },
  colourBy: 'Colour by',
  colours: { domain: 'Domain', type: 'Type', platform: 'Platform' },
  find: 'Find in the graph',
  foundMore: (count: number): string => `and ${number(count)} more: type more of the name`,
  found: (count: number): string => counted(count, 'match', 'matches'),
  time: 'Used since',
  times: {
    all: 'Any time',
    day: 'Last day',
    week: 'Last 7 days',
    month: 'Last 30 days',
    year: 'Last year',
    own: 'Chosen time'
  },
  export: 'Export',
  exportAs: { svg: 'Picture (SVG)', png: 'Picture (PNG)', csv: 'Table (CSV)' },
  table: 'Impact table',
  fit: 'Fit',
  fitTitle: 'Show the whole graph (F)',
  canvas: (name: string): string =>
    `Lineage graph of ${name}. Arrow keys go from card to card; press ? for all keys.`,
  status: (counts: {
    shown: number
    total: number
    aside: number
    stacks: number
    loops: number
    isComplete: boolean
  }): string =>
    [
      `Showing ${number(counts.shown)} of ${counts.isComplete ? '' : 'at least '}${counted(counts.total, 'asset', 'assets')}${counts.total > counts.shown ? `; ${number(counts.total - counts.shown)} are hidden` : ''}.`,
      counts.aside > 0 ? `${counted(counts.aside, 'other asset', 'other assets')} beside.` : '',
      counts.stacks > 0 ? `More in ${counted(counts.stacks, 'stack', 'stacks')}.` : '',
      counts.loops > 0 ? `${counted(counts.loops, 'loop', 'loops')}.` : ''
    ]
      .filter(Boolean)
      .join(' '),
  inView: (shown: number, total: number): string => `${number(shown)} of ${number(total)} are in view.`,
  removedAsset: 'removed',
  added: (count: number): string => `${counted(count, 'asset', 'assets')} added.`,
  removed: (count: number): string => `${counted(count, 'asset', 'assets')} removed.`,
  columnEdges: (shown: number, total: number): string =>
    shown === total
      ? `${counted(total, 'column edge', 'column edges')}.`
      : `${number(shown)} of ${number(total)} column edges.`,
  manyColumnEdges: (count: number): string =>
    `${number(count)} column edges: only those of the column you point at or choose are drawn.`,
  pill: {
    UPSTREAM: (count: number): string => `Show ${number(count)} hidden upstream`,
    DOWNSTREAM: (count: number): string => `Show ${number(count)} hidden downstream`
  },
  collapse: { UPSTREAM: 'Hide what is upstream', DOWNSTREAM: 'Hide what is downstream' },
  stack: {
    UPSTREAM: (count: number): string => `${number(count)} more upstream`,
    DOWNSTREAM: (count: number): string => `${number(count)} more downstream`
  },
  stackList: {
    filter: 'Filter by name',
    add: (count: number): string => (count === 1 ? 'Add 1 asset' : `Add ${number(count)} assets`),
    next: (count: number): string => `Add the next ${number(count)}`,
    all: 'Add all',
    table: 'Open as table',
    listed: (count: number, total: number): string => `${number(count)} of ${number(total)} listed.`,
    label: 'Hidden assets'
  },
  group: (name: string, count: number): string => `${name} (${counted(count, 'asset', 'assets')})`,
  openGroup: (name: string): string => `Open the group ${name}`,
  closeGroup: (name: string): string => `Close the group ${name}`,
  degree: (degree: number): string => `${counted(degree, 'hop', 'hops')} from the start, jobs included`,
  card: ({
    name,
    type,
    facts,
    domain,
    place,
    up,
    down,
    hidden
  }: {
    name: string
    type: string
    facts: readonly string[]
    domain: string | null
    place: string
    up: number
    down: number
    hidden: number
  }): string =>
    [
      name,
      type,
      ...facts,
      domain === null ? '' : `domain ${domain}`,
      place,
      `${number(up)} upstream`,
      `${number(down)} downstream`,
      hidden > 0 ? `${number(hidden)} hidden` : ''
    ]
      .filter(Boolean)
      .join(', '),
  sides: { UPSTREAM: 'Upstream', START: 'This asset', DOWNSTREAM: 'Downstream', ASIDE: 'Beside' },
  place: {
    START: (): string => 'start',
    UPSTREAM: (degree: number): string => `${counted(degree, 'hop', 'hops')} upstream`,
    DOWNSTREAM: (degree: number): string => `${counted(degree, 'hop', 'hops')} downstream`,
    ASIDE: (): string => 'neither upstream nor downstream of the start'
  },
  columnRow: (path: string, type: string | null, related: string): string =>
    [`Column ${path}`, type ?? '', related].filter(Boolean).join(', '),
  related: (shown: number, total: number): string =>
    `${number(shown)} of ${number(total)} related columns shown`,
  relatedShort: (shown: number, total: number): string => `${number(shown)} of ${number(total)}`,
  moreColumns: (count: number): string => `+${number(count)} more`,
  focus: (name: string, columns: number, assets: number, outside: number | null): string =>
    `Focused on ${name}: ${counted(columns, 'column', 'columns')} in ${counted(assets, 'asset', 'assets')}${
      outside === null || outside <= 0 ? '' : ` (${number(outside)} outside the view)`
    }`,
  showOutside: (count: number): string => `Show the ${number(count)} outside`,
  clear: 'Clear',
  drawer: {
    label: 'Chosen asset',
    details: 'Details',
    close: 'Close',
    recentre: 'Re-centre here',
    open: 'Open',
    impact: 'Impact',
    pathsFromStart: 'Show all shortest paths',
    upstream: 'Upstream',
    downstream: 'Downstream',
    shownOf: (shown: number, total: number): string => `${number(shown)} of ${number(total)} shown`,
    domain: 'Domain',
    noDomain: 'In no domain',
    columns: 'Columns',
    filter: 'Filter columns',
    onlyLineage: 'Only with lineage',
    listed: (count: number, total: number): string => `${number(count)} of ${number(total)} listed.`,
    owners: 'Owners',
    tags: 'Tags',
    terms: 'Terms',
    placeholder: 'Something refers to it, but nothing has described it.',
    removed: 'It was removed.'
  },
  paths: {
    label: (total: number, hops: number): string =>
      `${counted(total, 'shortest path', 'shortest paths')} of ${counted(hops, 'hop', 'hops')}`,
    first: (count: number, total: number): string =>
      count < total ? `The first ${number(count)} are shown.` : '',
    none: 'No path leads from one to the other.',
    to: 'Paths to',
    clear: 'Clear the paths'
  },
  edge: {
    via: (names: readonly string[], more: number): string =>
      `via ${names.join(', ')}${more > 0 ? ` and ${number(more)} more` : ''}`,
    merged: (count: number): string => counted(count, 'edge', 'edges'),
    label: 'An edge',
    job: 'By the job',
    statement: (aspect: string): string => `By ${aspect} of`,
    source: (source: string): string => `(source ${source})`,
    actor: (name: string): string => `stated by ${name}`,
    load: (id: string): string => `load ${id}`,
    more: (count: number): string => `and ${counted(count, 'other statement', 'other statements')}`,
    since: 'Stated since',
    lastUsed: 'Last used:',
    unused: 'no run has reported it.',
    bridged: 'Nobody states it directly: it leads over what this view hides.',
    place: (at: number, count: number): string => `${number(at)} of ${number(count)}`,
    previous: 'Previous edge',
    next: 'Next edge'
  },
  legend: {
    label: 'Legend',
    without: { domain: 'In no domain', type: 'No type', platform: 'No platform' },
    shared: (name: string): string => `shares its colour with ${name}`,
    dashed: 'closes a cycle, or leads to hidden assets'
  },
  miniMap: 'Overview',
  tooBig: {
    title: (shown: number, total: number): string => `The first ${number(shown)} of ${number(total)} assets`,
    text: 'More cards than this are hard to read.',
    all: (count: number): string => `Show up to ${number(count)}`,
    table: 'Open as table',
    group: 'Group by domain'
  },
  empty: {
    title: 'No lineage recorded',
    text: 'No lineage of this asset is known. Add an edge:',
    edit: 'Edit its lineage'
  },
  noStart: 'Choose an asset: search for it, or open it and choose “Lineage”.',
  notFound: 'This asset is unknown',
  notFoundHint: 'It appears here as soon as a load names it.',
  stale: 'This could not be loaded, so the previous picture is shown.',
  longLink: (length: number): string =>
    `The link of this view has ${number(length)} characters; some programs cut it.`,
  cutLink: 'The end of the link is missing, so this is the first view of the asset.',
  list: 'The graph as a list',
  keys: {
    title: 'Keys of the lineage graph',
    close: 'Close',
    rows: [
      ['← →', 'Neighbour upstream or downstream'],
      ['↑ ↓', 'Card above or below'],
      ['Enter', 'Choose the card, and show its details'],
      ['Tab', 'From a chosen card to its details, and to its columns'],
      ['[ ]', 'Show more upstream or downstream'],
      ['{ }', 'Hide what is upstream or downstream'],
      ['E', 'Why the card is connected: its edges, one by one'],
      ['C', 'Columns on or off'],
      ['F', 'Show the whole graph'],
      ['+ − 0', 'Zoom in, out, natural size'],
      ['T', 'Impact table'],
      ['Esc', 'Clear the choice'],
      ['?', 'This list']
    ] as readonly (readonly [string, string])[]
  }
}
