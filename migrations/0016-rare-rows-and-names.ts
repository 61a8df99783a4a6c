/** Finds what few catalogs have much of, so that looking for it does not read everything. */
export const indexes = [
  // The columns that mean the rows of their table.
  { name: 'entity_rows_idx', on: `entity (id) where urn like '%,[rows])'` },
  // The names of domains that may look the same as another.
  { name: 'domain_odd_name_idx', on: `domain (parent_id) where name collate "C" !~ '^[!-~]+( [!-~]+)*$'` }
]
