/** A catalog of very many assets for the search benchmark, put straight into its tables as if loads had written it. */
import { searchDocumentOf } from '../../shared/catalog/search/search-document.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { runAlone } from '../../shared/db/run-alone.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { urnKey } from '../../shared/urn/urn-key.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import { copyIn } from '../lineage/copy-in.ts'
import { loadDomainsOf } from '../lineage/load-graph.ts'
import { analyze, withoutIndexes } from '../lineage/without-indexes.ts'

/** One asset in so many has the word. */
export const words = {
  wide: { word: 'revenue', oneIn: 5 },
  narrow: { word: 'zephyr', oneIn: 1_000 }
} as const

const platforms = ['snowflake', 'snowflake', 'snowflake', 'bigquery', 'hive', 'kafka', 'postgres']
const environments = ['PROD', 'PROD', 'PROD', 'PROD', 'DEV']
const vocabularyCount = 20_000
const columnsCount = 10

/** Numbers that are the same in every run, and look like no order. */
const mixed = (asset: number, salt: number): number => {
  let value = Math.imul(asset ^ salt, 0x9e3779b1)
  value = Math.imul(value ^ (value >>> 15), 0x85ebca6b)
  return (value ^ (value >>> 13)) >>> 0
}

/** Some words are in many assets and most in few, as in any language: `w7` is a thousand times as frequent as `w9000`. */
const wordOf = (asset: number, salt: number): string =>
  `w${Math.floor(vocabularyCount ** (mixed(asset, salt) / 2 ** 32))}`

const has = (asset: number, { oneIn }: { oneIn: number }): boolean => mixed(asset, oneIn) % oneIn === 0

export const urnOfAsset = (asset: number): Urn => {
  const name = `db${mixed(asset, 1) % 20}.${wordOf(asset, 2)}.${wordOf(asset, 3)}_${wordOf(asset, 4)}_${asset}`
  return toUrn(
    `urn:li:dataset:(urn:li:dataPlatform:${platforms[mixed(asset, 5) % platforms.length] ?? ''},${name},${environments[mixed(asset, 6) % environments.length] ?? ''})`
  )
}

/** Half of those with a word have it in a column, and half in the description. */
function documentsOf(asset: number): Map<string, JsonObject> {
  const found = Object.values(words)
    .filter((word) => has(asset, word))
    .map(({ word }) => word)
  const inColumns = mixed(asset, 7) % 2 === 0
  const fields = Array.from({ length: columnsCount }, (_, column) => ({
    fieldPath: `${wordOf(asset, 100 + column)}_${wordOf(asset, 200 + column)}`
  }))
  if (inColumns) fields.push(...found.map((word) => ({ fieldPath: `${word}_total` })))
  const description = Array.from({ length: 8 }, (_, place) => wordOf(asset, 300 + place))
    .concat(inColumns ? [] : found)
    .join(' ')
  const documents = new Map<string, JsonObject>([
    ['datasetProperties', { description }],
    ['schemaMetadata', { fields }]
  ])
  if (mixed(asset, 8) % 50 === 0) documents.set('globalTags', { tags: [{ tag: 'urn:li:tag:pii' }] })
  return documents
}

/** The catalog must be migrated and empty. Two thirds of the assets are in a domain. */
export async function fillSearchCatalog(db: Db, count: number): Promise<{ domains: readonly Urn[] }> {
  await withoutIndexes(db, 'entity', () =>
    copyIn(
      db,
      'entity (id, urn, urn_key, entity_type, is_present)',
      lines(count, (asset) => {
        const urn = urnOfAsset(asset)
        return `${asset + 1}\t${urn}\t${urnKey(urn)}\tdataset\tt`
      })
    )
  )
  await query(db, `select setval(pg_get_serial_sequence('entity', 'id'), ?::int)`, [count])
  await withoutIndexes(db, 'search_document', () =>
    copyIn(
      db,
      'search_document (entity_id, name, words)',
      lines(count, (asset) => {
        const { id, name, words: vector } = searchDocumentOf(asset + 1, urnOfAsset(asset), documentsOf(asset))
        return `${id}\t${name}\t${vector}`
      })
    )
  )
  const { urns } = await loadDomainsOf(db, count)
  await analyze(db, 'search_document')
  await runAlone(db, ['vacuum search_document'])
  return { domains: urns }
}

function* lines(count: number, lineOf: (asset: number) => string): Generator<string> {
  for (let asset = 0; asset < count; asset += 1) yield lineOf(asset)
}
