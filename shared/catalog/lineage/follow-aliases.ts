/** Finds datasets by an alias: the path of a table, or the name before a rename. */
import type { Db, Tx } from '../../db/database.ts'
import { findCurrentNames } from '../../store/openlineage.ts'
import { entityTypeOf } from '../../urn/urn.ts'
import type { LineageReader } from './lineage-reader.ts'

/**
 * Wraps the reader: `find` of an alias returns the dataset under its present name. An entity whose own URN is
 * the alias takes precedence.
 */
export function followAliases(reader: LineageReader, db: Db | Tx): LineageReader {
  return {
    ...reader,
    async find(urns) {
      const known = await reader.find(urns)
      const doubtful = urns.filter(
        (urn) => entityTypeOf(urn) === 'dataset' && known.get(urn)?.isRemoved !== false
      )
      const names = await findCurrentNames(db, doubtful)
      if (names.size === 0) return known
      const current = await reader.find([...new Set(names.values())])
      for (const [urn, name] of names) {
        const found = current.get(name)
        if (found) known.set(urn, found)
      }
      return known
    }
  }
}
