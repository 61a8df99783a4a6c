/**
 * Everything that a reader can see of the catalog, as ordered texts, for tests that compare before and after.
 */
import { readAspects } from '../../shared/catalog/entities/read-aspects.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { toUrn } from '../../shared/urn/urn.ts'

export type CatalogState = {
  /** `upstream > downstream (owner, field, source, key): attributes` */
  edges: string[]
  /** Assembled aspects, except those with only empty lists, which count as absent. */
  documents: string[]
  associations: string[]
  /** `urn: name under parent` */
  domains: string[]
  present: string[]
  removed: string[]
}

export async function catalogState(db: Db): Promise<CatalogState> {
  const texts = async (sql: string): Promise<string[]> =>
    (await query<{ text: string }>(db, sql)).map(({ text }) => text).sort()
  const entities = await query<{ urn: string }>(db, 'select urn from entity order by urn')
  const documents: string[] = []
  for (const [urn, aspects] of await readAspects(
    db,
    entities.map((row) => toUrn(row.urn)),
    null
  )) {
    for (const [name, { value }] of aspects) {
      if (name !== 'domains' && Object.values(value).some((part) => !Array.isArray(part) || part.length > 0))
        documents.push(`${urn} ${name} ${inOrder(value)}`)
    }
  }
  return {
    edges: await texts(`
      select upstream.urn || ' > ' || downstream.urn || ' (' || owner.urn || ', ' || field || ', ' || statement_source.name || ', ' || record_key || '): ' || coalesce(attributes::text, '') as text
      from statement
      join entity upstream on upstream.id = upstream_id
      join entity downstream on downstream.id = downstream_id
      join entity owner on owner.id = owner_id
      join statement_source on statement_source.id = source_id`),
    documents: documents.sort(),
    associations: await texts(`
      select entity.urn || ' in ' || domain.urn || ' ' || coalesce(attributes::text, '') as text
      from domain_association
      join entity on entity.id = entity_id
      join entity domain on domain.id = domain_id`),
    domains: await texts(`
      select entity.urn || ': ' || domain.name || ' under ' || coalesce(parent.urn, 'nothing') as text
      from domain
      join entity on entity.id = domain.entity_id
      left join entity parent on parent.id = domain.parent_id`),
    present: await texts('select urn as text from entity where is_present'),
    removed: await texts('select urn as text from entity where is_removed')
  }
}

/**
 * Lists ordered by their texts, because an edge that was removed and asserted again moves to the end of its
 * list.
 */
const inOrder = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(inOrder).sort().join(',')}]`
  if (value !== null && typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, part]) => `${JSON.stringify(name)}:${inOrder(part)}`)
      .sort()
      .join(',')}}`
  return JSON.stringify(value)
}
