/**
 * The rules that keep concurrent writes correct, each as a part that a test can leave out to show that it is
 * needed. Production uses all of them; neither configuration nor a request can switch one off.
 */
export type Guards = {
  /** A write is applied only over an older one; removals and replacements store their order. */
  keepsOrder: boolean
  /** Owners are locked before their statements are read. */
  locksOwners: boolean
  /** A change without effect still raises the stored order while something older may revert it. */
  raisesOrder: boolean
  /** A late change of an aspect is inserted at its place, and the newer changes are replayed. */
  replaysHistory: boolean
  /** A reference does not count as missing while an older load may still create it. */
  waitsForOlderLoads: boolean
  /** Writers and deleters exclude each other between the check of existence and the commit. */
  excludesDeletes: boolean
  /** An undo reverts a change only if nothing newer has changed the same value. */
  undoesOnlyItsOwn: boolean
  /** Changes of the domain tree are decided one at a time. */
  locksDomainTree: boolean
}

export const allGuards: Guards = {
  keepsOrder: true,
  locksOwners: true,
  raisesOrder: true,
  replaysHistory: true,
  waitsForOlderLoads: true,
  excludesDeletes: true,
  undoesOnlyItsOwn: true,
  locksDomainTree: true
}
