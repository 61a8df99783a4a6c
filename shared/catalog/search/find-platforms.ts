/** Finds out which platforms the catalog has datasets of. */
import { allOf, anyOf, fieldKey, keyQuery } from '../../model/search-vector.ts'
import { findMatchesOfEach } from '../../store/search-documents.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'
import { asked } from './find-entities.ts'

/**
 * For each text the name of a platform: as it was written or in lower case, or null. A platform is in the
 * catalog with its first dataset, described or not, or as an entity of its own.
 */
export async function findPlatforms(
  sources: LineageSources,
  texts: readonly string[]
): Promise<(string | null)[]> {
  const spellings = texts.map((text) => [...new Set([text, text.toLowerCase()])])
  const found = new Set<string>()
  const all = spellings.flat()
  const matches = await withLineage(sources, (reader) =>
    asked(reader, (tx, within) => within(() => findMatchesOfEach(tx, all.map(datasetsOn), 1)))
  )
  for (const [index, name] of all.entries()) if (matches[index]?.length) found.add(name)
  return spellings.map((names) => names.find((name) => found.has(name)) ?? null)
}

const datasetsOn = (platform: string): string =>
  allOf([
    keyQuery(fieldKey('platform', platform)),
    anyOf(['dataset', 'dataPlatform'].map((type) => keyQuery(fieldKey('type', type))))
  ])
