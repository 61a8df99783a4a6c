/** Words of the page of loads. */
import { counted, number } from './numbers.ts'

const records = (value: number): string => counted(value, 'record', 'records')

export const loadTexts = {
  title: 'Loads',
  records,
  filter: 'State',
  anyState: 'All',
  activeStates: 'Running',
  states: {
    receiving: 'Receiving',
    accepted: 'Waiting',
    applying: 'Applying',
    done: 'Done',
    failed: 'Failed',
    aborted: 'Aborted',
    cancelled: 'Cancelled'
  } as { readonly [state: string]: string },
  /** A dry run applies nothing. */
  dryRunApplying: 'Checking',
  modes: { merge: 'Merge', snapshot: 'Snapshot', undo: 'Undo' } as { readonly [mode: string]: string },
  verdicts: {
    applied: 'applied',
    unchanged: 'unchanged',
    rejected: 'rejected',
    waiting: 'waiting'
  },
  verdictsOfDryRun: {
    applied: 'would be applied',
    unchanged: 'would change nothing',
    rejected: 'would be rejected',
    waiting: 'waiting'
  },
  leftOut: 'left out',
  wouldFail: 'would fail',
  rejectedOf: (isAll: boolean, count: number, isDryRun: boolean): string =>
    `${isAll && count > 1 ? `all ${number(count)}` : number(count)} ${isDryRun ? 'would be rejected' : 'rejected'}`,
  verdict: (name: string, count: number): string => `${number(count)} ${name}`,
  barLabel: (percent: number): string => `${percent} % done`,
  dryRun: 'Dry run',
  heads: {
    state: 'State',
    id: 'Load',
    source: 'Source',
    mode: 'Mode',
    records: 'Records',
    verdicts: 'Verdicts',
    created: 'Received',
    duration: 'Duration'
  },
  loadOf: (id: string): string => `Load ${id.slice(0, 8)}`,
  none: 'There are no loads yet.',
  noneOwn: 'Your token has sent no loads.',
  noneOwnHint: 'Only administrators see the loads of others.',
  noneFiltered: 'No load is in this state.',
  more: 'Show older',
  tooMany: (maximum: number): string =>
    `The list ends after the newest ${number(maximum)}. Older loads are listed by state, or by tributary load list.`,
  all: 'All loads',
  live: 'Live',
  notLive: 'The live connection is cut; asking every two seconds.',
  queueDown:
    'The queue does not answer. Loads are accepted and are applied later than usual; all other pages work.',
  format: 'Format',
  source: 'Source',
  mode: 'Mode',
  sender: 'Sent by',
  received: 'Received',
  rate: (perSecond: number, seconds: number | null): string =>
    `${number(Math.round(perSecond))} records a second${seconds === null ? '' : `, about ${number(seconds)} s left`}`,
  milliseconds: (value: number): string =>
    value < 1_000
      ? `${number(value)} ms`
      : value < 120_000
        ? `${(value / 1_000).toFixed(1)} s`
        : `${number(Math.round(value / 60_000))} min`,
  undoes: 'Undoes',
  wouldUndo: 'Would undo',
  undoneBy: 'Undone by',
  ignoredColumns: 'Ignored columns',
  warnings: 'Warnings',
  moreWarnings: (more: number): string => `and ${number(more)} more`,
  snapshot: {
    pending: 'Snapshot: not compared yet.',
    removing: (removed: number, toRemove: number): string =>
      `Snapshot: ${number(removed)} of ${number(toRemove)} statements removed.`,
    done: (removed: number, kept: number): string =>
      `Snapshot: ${number(removed)} statements removed, ${number(kept)} kept.`,
    held: 'Snapshot: nothing was removed, because a rejected record could name any edge. Fix it and send the snapshot again, or retry with force.'
  },
  retry: 'Retry rejected',
  retryFailed: 'Continue',
  retryForced: 'Retry with force',
  cancel: 'Cancel',
  undo: 'Undo',
  retryTitle: (count: number): string =>
    `Apply ${count === 1 ? 'the rejected record' : `the ${number(count)} rejected records`} again?`,
  retryFailedTitle: 'Continue this load where it stopped?',
  retryHint: 'Nothing else of the load is applied again.',
  forceTitle: 'Retry with force?',
  forceHint:
    'The snapshot may then remove any share of what its source stated before and does not state now.',
  cancelTitle: 'Cancel this load?',
  cancelHintOfDryRun: 'A dry run changes nothing. Its report will be missing.',
  cancelHint: (applied: number, waiting: number): string =>
    `${records(applied)} ${applied === 1 ? 'is' : 'are'} applied and will stay. ${records(waiting)} ${waiting === 1 ? 'is' : 'are'} left out.`,
  cancelledDryRun: 'Cancelled. Nothing was changed.',
  cancelled: (applied: number): string => `Cancelled. ${records(applied)} had been applied.`,
  undoTitle: 'Undo this load?',
  undoHint:
    'Restores what the load changed, except where something newer has changed it since. The undo is a separate load, and can itself be undone.',
  undoCounts: (applied: number, unchanged: number): string =>
    `${records(applied)} changed something and will be undone. ${records(unchanged)} changed nothing.`,
  undoRemoved: (removed: number): string =>
    `${number(removed)} ${removed === 1 ? 'statement' : 'statements'} that the snapshot removed will be stated again.`,
  preview: 'Show what it would change',
  previewing: 'Running the dry run …',
  previewCounts: (applied: number, unchanged: number, rejected: number): string =>
    [
      `${number(applied)} ${applied === 1 ? 'change' : 'changes'} would be undone.`,
      ...(unchanged > 0
        ? [
            `${number(unchanged)} ${unchanged === 1 ? 'stays' : 'stay'}, because something newer has changed or uses it.`
          ]
        : []),
      ...(rejected > 0 ? [`${number(rejected)} cannot be undone.`] : [])
    ].join(' '),
  changed: 'What it changed',
  changedMore: 'And others.',
  rejects: 'Rejected records',
  retryCreating: 'Retry and create what is missing',
  /** What records with a code have in common, after their number. */
  causes: {
    MISSING_REFERENCE:
      'They refer to assets that are not in the catalog. Create these as placeholders, or load them first.',
    VALIDATION_FAILED:
      'A value is missing or not of the right kind. Correct the records and load them again.',
    NOT_FOUND: 'They change something that does not exist.'
  } as { readonly [code: string]: string },
  reasons: 'Why',
  reasonExample: 'For example:',
  reason: (count: number, code: string): string => `${records(count)}, ${code}:`,
  firstOf: (line: number): string => `(line ${number(line)})`,
  rejectsShown: (shown: number, total: number): string =>
    shown < total ? `Showing ${number(shown)} of ${number(total)}` : `Showing all ${number(total)}`,
  rejectHeads: { line: 'Line', code: 'Code', field: 'Field', message: 'Why', record: 'Record' },
  showRecord: (line: number): string => `Show the record of line ${number(line)}`,
  recordOf: (line: number): string => `Record of line ${number(line)}`,
  downloadNdjson: 'Download as NDJSON',
  downloadCsv: 'Download as CSV',
  codeCount: (code: string, count: number): string => `${code} (${number(count)})`,
  missing: (id: string): string => `The load ${id} does not exist.`,
  missingHint:
    'Loads are kept for 30 days, and are visible to the token that sent them and to administrators.',
  drop: {
    title: 'Load a file',
    hint: 'Drop it here, or choose it: NDJSON, CSV, change proposals, OpenLineage events, or the artifacts of a dbt project together.',
    choose: 'Choose a file',
    chosen: (names: string, bytes: string): string => `${names} (${bytes})`,
    bytes: (value: number): string =>
      value < 1_024
        ? `${number(value)} bytes`
        : value < 1_048_576
          ? `${number(Math.round(value / 1_024))} KiB`
          : `${number(Math.round(value / 104_857.6) / 10)} MiB`,
    format: 'Format',
    detect: 'Detected by the server',
    source: 'Source',
    sourceHint: 'The name under which the edges are stated. If empty, the format decides.',
    mode: 'Mode',
    byFormat: 'Default of the format',
    modes: {
      merge: 'Merge: add, and remove only what a record removes',
      snapshot: 'Snapshot: remove what this source stated before and does not state now'
    },
    createsMissing: 'Create placeholders for missing assets',
    tryIt: 'Dry run: change nothing, and show what would change',
    loadIt: 'Load it',
    loadNow: 'Load without a dry run',
    clear: 'Choose another',
    sending: 'Sending …',
    several:
      'Several files can be one load only if they are the manifest, catalog and run results of one dbt project.',
    tried: 'This would change',
    triedNothing: 'This would change nothing.',
    edges: (added: number, removed: number): string =>
      `Edges: ${number(added)} added, ${number(removed)} removed`,
    columnEdges: (added: number, removed: number): string =>
      `Column edges: ${number(added)} added, ${number(removed)} removed`,
    domains: (created: number, deleted: number, set: number, unset: number): string =>
      `Domains: ${number(created)} created, ${number(deleted)} deleted; assets put into one: ${number(set)}, taken out: ${number(unset)}`,
    entities: (created: number, deleted: number, placeholders: number): string =>
      `Assets and domains: ${number(created)} created, ${number(deleted)} deleted; placeholders created: ${number(placeholders)}`,
    affectedCut: (isOfDomains: boolean, count: number): string =>
      `and ${isOfDomains ? counted(count, 'more domain', 'more domains') : counted(count, 'more asset', 'more assets')}`,
    affected: (assets: number, domains: number, isComplete: boolean): string =>
      `Affected, including everything downstream: ${isComplete ? '' : 'at least '}${number(assets)} ${assets === 1 ? 'asset' : 'assets'} in ${number(domains)} ${domains === 1 ? 'domain' : 'domains'}`
  }
}
