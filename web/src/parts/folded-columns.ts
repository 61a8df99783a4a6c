/** Which columns of a table do not fit into its width. */

/** Between two columns, in pixels. */
export const columnGap = 12

/** `width`: a track of a CSS grid with its least width in pixels. Without `fold`, a column always stays. */
type Foldable = { width: string; fold?: number }

/** `160` of `minmax(160px, 2fr)`. */
const leastWidth = ({ width }: Foldable): number => Number(/(\d+)px/.exec(width)?.[1] ?? 0)

/** The columns, in their order, that do not fit into the width, in pixels; none while the width is not known. */
export function foldedColumns<Column extends Foldable>(columns: readonly Column[], width: number): Column[] {
  let least = columns.reduce((sum, column) => sum + leastWidth(column) + columnGap, -columnGap)
  const folded = new Set<Column>()
  for (const column of columns
    .filter(({ fold }) => fold !== undefined)
    .toSorted((a, b) => (a.fold ?? 0) - (b.fold ?? 0))) {
    if (least <= width || width <= 0) break
    folded.add(column)
    least -= leastWidth(column) + columnGap
  }
  return columns.filter((column) => folded.has(column))
}
