/**
 * Slices of a scroll: several clients read one result in parallel, and each entity or relationship is in
 * exactly one slice.
 */
export type Slice = { id: number; max: number }

/** Spreads ids evenly over slices, even if they are close together or were sampled at a fixed interval. */
const spread = 0x9e3779b1

/** The ids in the slice, in the given order; all ids without a slice. */
export const inSlice = (slice: Slice | null, ids: Int32Array): Int32Array =>
  slice === null ? ids : ids.filter((id) => (Math.imul(id, spread) >>> 0) % slice.max === slice.id)
