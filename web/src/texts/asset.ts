/** The words of the asset page. */
import { number } from './numbers.ts'

export const assetTexts = {
  tabs: {
    details: 'Overview',
    columns: 'Columns',
    lineage: 'Lineage',
    impact: 'Impact',
    runs: 'Runs',
    run: 'Run',
    statements: 'Provenance',
    raw: 'Aspects'
  },
  columnOf: 'Column of',
  count: number,
  notDescribed: 'Not described yet',
  openIn: (platform: string | null): string => `Open in ${platform ?? 'its own tool'} ↗`,
  by: (actor: string): string => `by ${actor}`,
  searchFor: (name: string): string => `Search for all with ${name}`,
  runState: (state: string | null): string =>
    (
      ({ COMPLETE: 'Succeeded', FAIL: 'Failed', ABORT: 'Stopped', RUNNING: 'Running' }) as {
        [state: string]: string
      }
    )[state ?? ''] ?? 'Ended',
  belongings: {
    tagged: 'Assets with this tag',
    withColumns: 'Tables with columns that have it',
    termed: 'Assets with this term',
    terms: 'Terms in this group',
    within: 'Part of',
    owned: 'Owns',
    groups: 'Member of',
    members: 'Members',
    contents: 'Contents',
    jobs: 'Jobs',
    flow: 'Flow',
    charts: 'Charts',
    dashboards: 'Dashboards with this chart',
    features: 'Features and keys',
    featureTables: 'Feature table',
    models: 'Models',
    assets: 'Assets',
    products: 'Data products with this asset',
    all: (total: number): string => `Show all ${number(total)}`,
    none: 'None yet.'
  },
  around: { up: 'Made from', down: 'Used by', none: 'Nothing is known.', picture: 'Open the picture' },
  tabList: 'About this asset',
  upstream: (count: number): string => `${number(count)} upstream`,
  downstream: (count: number): string => `${number(count)} downstream`,
  placeholder: 'Nothing describes this asset yet: something only refers to it.',
  deprecated: 'Deprecated',
  removed: 'Removed',
  notFound: 'This asset is not in the catalog',
  notFoundHint: 'It appears as soon as something loads it, or refers to it. Is the URN complete?',
  similar: 'Similar names',
  description: 'Description',
  noDescription: 'Nobody has described it.',
  domain: {
    menu: 'Domain',
    none: 'No domain',
    change: 'Change domain',
    set: 'Set domain',
    unset: 'Take out of its domain',
    taken: 'The asset is in no domain now.'
  },
  facts: {
    owners: 'Owners',
    tags: 'Tags',
    terms: 'Terms',
    links: 'Links',
    dataType: 'Data type',
    container: 'Container',
    properties: 'Properties',
    urn: 'URN',
    subTypes: 'Subtypes',
    instance: 'Platform instance',
    lastRun: 'Last run',
    lastChange: 'Catalog entry updated',
    title: 'Facts'
  },
  columns: {
    label: 'Columns',
    filter: 'Filter columns',
    name: 'Name',
    type: 'Type',
    description: 'Description',
    tags: 'Tags',
    upstream: 'Made from',
    downstream: 'Used by',
    shown: (shown: number, total: number): string =>
      shown === total ? `${number(total)} columns` : `${number(shown)} of ${number(total)} columns`,
    traceOf: (name: string, count: number): string =>
      `${number(count)} upstream: trace the lineage of ${name}`,
    impactOf: (name: string, count: number): string => `${number(count)} downstream: impact of ${name}`,
    none: 'No columns are known',
    noneHint: 'Columns come with a schema (aspect schemaMetadata) or with column lineage.'
  },
  statements: {
    label: 'Statements of the lineage one hop away',
    upstream: 'Upstream',
    downstream: 'Downstream',
    source: 'Source',
    aspect: 'Aspect',
    actor: 'By',
    at: 'When',
    lastUsed: 'Last used',
    load: 'Load',
    none: 'No lineage is recorded',
    more: (shown: number, total: number): string =>
      `The first ${number(shown)} of ${number(total)} edges are shown.`
  },
  runs: {
    label: 'Runs',
    name: 'Run',
    state: 'State',
    started: 'Started',
    ended: 'Ended',
    code: 'Code',
    checks: 'Checks',
    checksFailed: (failed: number, total: number): string =>
      failed === 0 ? `All ${number(total)} passed` : `${number(failed)} of ${number(total)} failed`,
    error: 'Why it failed',
    stackTrace: 'Stack trace',
    failedChecks: 'Failed checks',
    written: 'Written',
    read: 'Read',
    amount: ({ rows, bytes, files }: { rows: number | null; bytes: number | null; files: number | null }) =>
      [
        ...(rows === null ? [] : [`${number(rows)} rows`]),
        ...(bytes === null ? [] : [`${number(bytes)} bytes`]),
        ...(files === null ? [] : [`${number(files)} files`])
      ].join(', '),
    sql: 'SQL',
    unknown: 'Nothing more is known of this run',
    unknownHint: 'What OpenLineage events report is kept for 30 days.',
    strip: (count: number, failed: number): string =>
      `Last ${number(count)} runs: ${number(count - failed)} succeeded, ${number(failed)} failed`,
    duration: 'Duration',
    job: 'Job',
    last: 'Last run',
    lastTen: 'Last 10 runs',
    reads: 'Reads',
    writes: 'Writes',
    order: 'Step',
    more: (count: number): string => `and ${number(count)} more`,
    none: 'No runs are recorded',
    noneHint: 'Runs come with OpenLineage events, or from DataHub’s Airflow plugin.',
    cut: (shown: number, total: number): string => `${number(shown)} of ${number(total)} runs are shown.`
  },
  raw: {
    version: (name: string): string => `Version of ${name}`,
    list: 'Aspects',
    newest: 'Newest',
    number: (version: number): string => `Version ${version}`,
    written: (at: string, actor: string): string => `Written ${at} by ${actor}`,
    copy: 'Copy JSON',
    none: 'No aspects are stored.',
    gone: 'This version is no longer kept.'
  },
  editLineage: 'Edit lineage'
}
