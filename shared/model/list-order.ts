/** The order in which a list shows its edges: written entries, then added ones. */
import { compareOrder, type Order } from './order.ts'

/**
 * The position of an edge that was added to a list instead of being written with it: after all written edges.
 * Other edges of the same record get the following positions.
 */
export const appendedPosition = 2 ** 30

export type Placed = Order & { position: number }

export const compareAppearance = (a: Placed, b: Placed): number =>
  a.position >= appendedPosition && b.position >= appendedPosition
    ? compareOrder(a, b) || a.position - b.position
    : a.position - b.position || compareOrder(a, b)
