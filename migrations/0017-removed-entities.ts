/** Finds the soft-deleted entities among many ids, so that a chunk of edges can say which of its ends are hidden. */
export const indexes = [{ name: 'entity_removed_idx', on: 'entity (id) where is_removed' }]
