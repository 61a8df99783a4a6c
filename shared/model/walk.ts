/** What a lineage walk is asked and what it answers, whichever way it is walked. */
export type LineageDirection = 'UPSTREAM' | 'DOWNSTREAM'

/** Asset edges join assets; column edges join columns. No walk mixes them. */
export type LineageLevel = 'asset' | 'column'

export type WalkBounds = {
  /** Hops after which the walk says that it was cut short. */
  maxHops: number
  /** Entities after which the walk says that it was cut short. */
  maxEntities: number
}

/** Milliseconds since 1970, both included. An edge counts when a stamp of it lies within, when it has none, or when people stated it. */
export type TimeWindow = { fromMs: number; toMs: number }

export type WalkQuestion = {
  startIds: readonly number[]
  direction: LineageDirection
  level: LineageLevel
  /** Hops that the caller has use for; Infinity for all. Ending there is no cut. */
  hopsWanted: number
  bounds: WalkBounds
}

/** What a walk reached, nearest first and by id within a degree. The starts are not in it. */
export type Walk = {
  ids: Int32Array
  degrees: Uint16Array
  /** Hops followed whole: entities at a lesser degree have all their neighbours here. */
  hops: number
  /** The bound that cut the walk short; null if everything wanted was reached. */
  cutBy: 'maxHops' | 'maxEntities' | null
}
