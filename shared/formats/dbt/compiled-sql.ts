/** What a manifest says of the SQL that makes a table: the compiled text, where it runs, and its checksum. */
import { limits } from '../../limits.ts'
import type { JsonObject } from '../../model/changes.ts'
import { packText, type PackedText } from './packed-text.ts'
import { objectOf, textOf } from './read-fields.ts'

export type StatedSql = {
  /**
   * - `compiled`: the manifest has the SQL
   * - `absent`: it does not, as after `dbt parse` or `dbt test`
   * - `tooLarge`: it has more than sqlMaxBytes
   * - `foreign`: the model is in another language
   */
  state: 'compiled' | 'absent' | 'tooLarge' | 'foreign'
  /** Of the SQL before it was compiled; null if the manifest has none. */
  checksum: string | null
  /** Columns that dbt adds to those of the SQL. */
  addedColumns: readonly string[]
  /** Null unless it can be read. */
  text: PackedText | null
}

const typesWithSql = new Set(['model', 'snapshot'])

/** Null for a node that no SQL makes. */
export function statedSql(resourceType: string, node: JsonObject, config: JsonObject): StatedSql | null {
  if (!typesWithSql.has(resourceType)) return null
  const text = textOf(node.compiled_code) ?? textOf(node.compiled_sql)
  const state = stateOf(textOf(node.language) ?? 'sql', text)
  return {
    state,
    checksum: textOf(objectOf(node.checksum).checksum),
    addedColumns: resourceType === 'snapshot' ? columnsOfSnapshot(config) : [],
    text: state === 'compiled' && text !== null ? packText(text) : null
  }
}

function stateOf(language: string, text: string | null): StatedSql['state'] {
  if (language !== 'sql') return 'foreign'
  if (text === null) return 'absent'
  return Buffer.byteLength(text) > limits.sqlMaxBytes ? 'tooLarge' : 'compiled'
}

/** dbt can be told other names for them. */
function columnsOfSnapshot(config: JsonObject): string[] {
  const names = objectOf(config.snapshot_meta_column_names)
  const added = ['dbt_scd_id', 'dbt_updated_at', 'dbt_valid_from', 'dbt_valid_to']
  if (config.hard_deletes === 'new_record') added.push('dbt_is_deleted')
  return added.map((name) => textOf(names[name]) ?? name)
}
