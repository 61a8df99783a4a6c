/** The question and the answer of a lineage walk, for all its implementations. */
export type LineageDirection = 'UPSTREAM' | 'DOWNSTREAM'

/** Asset edges join assets; column edges join columns. No walk mixes them. */
export type LineageLevel = 'asset' | 'column'

export type WalkBounds = {
  /** The number of hops after which the walk is cut short, and reports that. */
  maxHops: number
  /** The number of entities after which the walk is cut short, and reports that. */
  maxEntities: number
}

/**
 * Milliseconds since 1970, both ends included. `countsIn` says which edges count in it.
 */
export type TimeWindow = { fromMs: number; toMs: number }

export type WalkQuestion = {
  startIds: readonly number[]
  direction: LineageDirection
  level: LineageLevel
  /** The hops that the caller needs; Infinity for all. Ending there does not count as cut short. */
  hopsWanted: number
  bounds: WalkBounds
}

/** The result of a walk, nearest first and by id within a degree, without the starts. */
export type Walk = {
  ids: Int32Array
  degrees: Uint16Array
  /** The number of complete hops: all neighbours of entities at a smaller degree are included. */
  hops: number
  /** The limit that cut the walk short; null if everything requested was reached. */
  cutBy: 'maxHops' | 'maxEntities' | null
  /**
   * Columns that are reached only because a column on the way filters or joins the rows of a table; absent if
   * there are none.
   */
  indirectIds?: ReadonlySet<number>
}
