/** The words of the page that edits lineage. */
import { counted } from './numbers.ts'

export const editLineageTexts = {
  leave: 'The changes are not saved. Leave the page and lose them?',
  title: (name: string): string => `Edit the lineage of ${name}`,
  back: 'Back to the asset',
  readOnly: 'Your token may only read. Editing lineage takes a token with the scope write.',
  upstream: 'Upstream: what it is made from',
  downstream: 'Downstream: what is made from it',
  addUpstream: 'Add an upstream asset',
  addDownstream: 'Add a downstream asset',
  none: 'None',
  remove: 'Remove',
  removeOf: (name: string): string => `Remove the edge with ${name}`,
  keep: 'Keep',
  keepOf: (name: string): string => `Keep the edge with ${name}`,
  itself: 'itself',
  statedBy: (source: string): string => `stated by ${source}`,
  added: 'new',
  removed: 'to be removed',
  columns: {
    title: 'Columns',
    how: 'Drag a column of an upstream asset onto a column of this one, or press one in each list and connect them.',
    upstream: 'Upstream asset',
    from: (name: string): string => `Columns of ${name}`,
    connect: 'Connect',
    pairs: 'Column edges',
    none: 'No column edges',
    unknown: 'No columns are known',
    noUpstream: 'Columns can be connected once there is an upstream dataset.'
  },
  preview: {
    title: 'What would change',
    nothing: 'No changes yet',
    edges: (added: number, removed: number): string =>
      [
        added > 0 ? `${counted(added, 'edge', 'edges')} added` : '',
        removed > 0 ? `${counted(removed, 'edge', 'edges')} removed` : ''
      ]
        .filter(Boolean)
        .join(', '),
    gained: (count: number, of: string): string =>
      `${counted(count, 'asset becomes', 'assets become')} downstream of ${of}`,
    lost: (count: number, of: string): string =>
      `${counted(count, 'asset is', 'assets are')} no longer downstream of ${of}`,
    partial: 'The graph is too large to show all of it: there may be more.',
    save: 'Save',
    discard: 'Discard'
  },
  saved: 'The lineage has been changed.',
  undone: 'The change has been undone.'
}
