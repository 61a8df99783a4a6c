/** The functions that make one value of many rows, in any dialect, and the columns that functions in FROM give. */
const aggregates: ReadonlySet<string> = new Set(
  `any_value approx_count_distinct approx_distinct approx_percentile approx_quantile approx_quantiles approx_top_count
  arg_max arg_min argmax argmin array_agg array_concat_agg array_unique_agg arrayagg avg avgif bit_and bit_or bit_xor bitand_agg
  bitor_agg bitxor_agg bool_and bool_or booland_agg boolor_agg collect_list collect_set corr count count_if countif
  covar_pop covar_samp every first group_concat grouparray groupuniqarray hll_accumulate hll_combine json_agg json_arrayagg
  json_group_array json_group_object json_object_agg json_objectagg jsonb_agg jsonb_object_agg last listagg logical_and logical_or
  map_agg max max_by maxif median min min_by minif mode multimap_agg object_agg percentile percentile_approx percentile_cont
  percentile_disc quantile quantiles regr_avgx regr_avgy regr_count regr_slope stddev stddev_pop stddev_samp string_agg
  stdev stdevp sum sumif sumdistinct uniq uniqexact uniqcombined uniqhll12 var_pop var_samp variance varp wm_concat xmlagg`
    .trim()
    .split(/\s+/)
)

/** ClickHouse makes new ones of these with endings: `quantileTDigestIf`. */
const families =
  /^(?:quantiles?|uniq|sum|count|avg|any|min|max|argmin|argmax|grouparray|groupuniqarray|topk|stddev|var)(?:\w*(?:if|state|merge|ornull|ordefault|foreach|distinct)|tdigest\w*|exact\w*|timing\w*|deterministic|last|heavy|theta\w*|kahan|withoverflow|sample|pop)$/

/** Whether a function makes one value of many rows. `name` is in lower case. */
export const isAggregate = (name: string): boolean => aggregates.has(name) || families.test(name)

/** Columns that functions give, where they have names of their own. */
export const columnsOfFunction: Record<string, string[]> = {
  flatten: ['seq', 'key', 'path', 'index', 'value', 'this'],
  split_to_table: ['seq', 'index', 'value'],
  openjson: ['key', 'value', 'type'],
  string_split: ['value', 'ordinal'],
  json_each: ['key', 'value', 'type', 'atom', 'id', 'parent', 'fullkey', 'path'],
  json_tree: ['key', 'value', 'type', 'atom', 'id', 'parent', 'fullkey', 'path'],
  jsonb_each: ['key', 'value'],
  jsonb_each_text: ['key', 'value'],
  json_each_text: ['key', 'value'],
  jsonb_array_elements: ['value'],
  jsonb_array_elements_text: ['value'],
  json_array_elements: ['value'],
  json_array_elements_text: ['value']
}
