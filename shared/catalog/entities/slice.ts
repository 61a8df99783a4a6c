/** Slices of a scroll: several clients read one result side by side, each entity or relationship in exactly one slice. */
export type Slice = { id: number; max: number }

/** Spreads ids evenly over slices, also ids that lie close together or were sampled by a fixed step. */
const spread = 0x9e3779b1

/** The ids that are in the slice, in their order; all where there is none. */
export const inSlice = (slice: Slice | null, ids: Int32Array): Int32Array =>
  slice === null ? ids : ids.filter((id) => (Math.imul(id, spread) >>> 0) % slice.max === slice.id)
