/**
 * A second sample for questions that nearly everything matches: of a million documents that match a prefix, one in
 * sixty-four are 15,600, which take 60 ms to fetch and judge. One in 1,024 tell as well how many there are.
 */
export const up = `
create index search_document_words_coarse_idx on search_document using gin (words) with (gin_pending_list_limit = 256)
  where hashint4(entity_id) & 1023 = 0;
`

export const down = `
drop index search_document_words_coarse_idx;
`
