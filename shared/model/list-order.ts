/** The order in which a list shows its edges: as written, then as added. */
import { compareOrder, type Order } from './order.ts'

/**
 * Position of an edge that was added to a list rather than written with it: after all that were. What one record adds
 * counts on from it.
 */
export const appendedPosition = 2 ** 30

export type Placed = Order & { position: number }

export const compareAppearance = (a: Placed, b: Placed): number =>
  a.position >= appendedPosition && b.position >= appendedPosition
    ? compareOrder(a, b) || a.position - b.position
    : a.position - b.position || compareOrder(a, b)
