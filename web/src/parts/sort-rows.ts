/** Sorts rows by a column with TanStack Table: numbers by size, words alphabetically, missing values last. */
import {
  constructTable,
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures
} from '@tanstack/table-core'
import { storeReactivityBindings } from '@tanstack/table-core/store-reactivity-bindings'

export type SortValue = string | number | null
export type Sort = { id: string; isDescending: boolean }

const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

const compare = (a: SortValue | undefined, b: SortValue | undefined): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : words.compare(String(a), String(b))

const features = tableFeatures({
  coreReactivityFeature: storeReactivityBindings(),
  rowSortingFeature,
  sortedRowModel: createSortedRowModel()
})

/**
 * Rows with equal values keep their order. Without a sort, or with an unknown column, nothing is reordered.
 */
export function sortRows<Row extends object>(
  rows: readonly Row[],
  columns: readonly { id: string; value: (row: Row) => SortValue }[],
  sort: Sort | null
): readonly Row[] {
  if (!sort || !columns.some(({ id }) => id === sort.id)) return rows
  const helper = createColumnHelper<typeof features, Row>()
  const table = constructTable({
    features,
    data: [...rows],
    columns: helper.columns(
      columns.map(({ id, value }) =>
        helper.accessor((row) => value(row) ?? undefined, {
          id,
          sortUndefined: 'last',
          sortFn: (a, b, columnId) =>
            compare(a.getValue<SortValue | undefined>(columnId), b.getValue<SortValue | undefined>(columnId))
        })
      )
    ),
    initialState: { sorting: [{ id: sort.id, desc: sort.isDescending }] }
  })
  return table.getRowModel().rows.map(({ original }) => original)
}

/** The form in an address: `name`, or `-name` for descending. */
export const readSort = (text: string | undefined): Sort | null =>
  text ? { id: text.replace(/^-/, ''), isDescending: text.startsWith('-') } : null

export const printSort = (sort: Sort | null): string | null =>
  sort && `${sort.isDescending ? '-' : ''}${sort.id}`

/** What a click on a column head does: ascending, descending, unsorted. */
export function nextSort(sort: Sort | null, id: string): Sort | null {
  if (sort?.id !== id) return { id, isDescending: false }
  return sort.isDescending ? null : { id, isDescending: true }
}
