/**
 * The rules that keep concurrent writes right, each as a part that a test can leave out to show that it is needed.
 *
 * Production composes all of them; nothing in configuration or on the wire can switch one off.
 */
export type Guards = {
  /** A write applies only over an older one; removals and replacements leave their order behind. */
  keepsOrder: boolean
  /** Owners are locked before what they state is read. */
  locksOwners: boolean
  /** A change that finds nothing to do still raises the stored order while something older may undo it. */
  raisesOrder: boolean
  /** A late change of an aspect is inserted at its place and the newer ones are replayed. */
  replaysHistory: boolean
  /** A reference is not called missing while an older load may still create it. */
  waitsForOlderLoads: boolean
  /** Writers and deleters exclude each other between the check of existence and the commit. */
  excludesDeletes: boolean
  /** What is taken back of a load is what nothing newer has changed. */
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
