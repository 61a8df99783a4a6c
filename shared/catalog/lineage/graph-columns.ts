/**
 * Chooses the first columns of each asset in a lineage graph: those with edges in it, then others with
 * lineage, then the rest of the schema.
 */
import { CatalogError } from '../../errors.ts'
import type { JsonObject } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { schemaFieldParts, schemaFieldUrn } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import type { Rim, Rims } from './graph-edges.ts'
import type { LineageReader } from './lineage-reader.ts'

export type ColumnRow = {
  /** Null if the path does not give a valid URN. */
  urn: Urn | null
  path: string
  /** The type as the platform names it; null for a column that the schema does not have. */
  dataType: string | null
  upstreamCount: number
  downstreamCount: number
  hiddenUpstream: number
  hiddenDownstream: number
}

/** `total` counts each column once, whether the schema, lineage or both name it. */
export type ColumnRows = { total: number; rows: ColumnRow[] }

type Columns = {
  /** For each asset, the named columns that are visible, and those that are soft-deleted. */
  namedOf: ReadonlyMap<number, { visible: readonly number[]; removed: readonly number[] }>
  rims: Rims
}

const assetsSliceCount = 50
const none: Rim = { count: 0, hidden: 0 }

/** The rows by asset; at most `count` rows each. Throws DEADLINE_EXCEEDED. */
export async function readColumnRows(
  reader: LineageReader,
  assets: ReadonlyMap<number, Urn>,
  { namedOf, rims }: Columns,
  count: number
): Promise<Map<number, ColumnRows>> {
  const found = new Map<number, ColumnRows>()
  const ids = [...assets.keys()]
  for (let begin = 0; begin < ids.length; begin += assetsSliceCount) {
    const slice = ids.slice(begin, begin + assetsSliceCount)
    const documents = await reader.documents(slice, ['schemaMetadata'])
    const urnOf = await reader.urns(
      slice.flatMap((id) => [...(namedOf.get(id)?.visible ?? []), ...(namedOf.get(id)?.removed ?? [])])
    )
    const pathOf = (id: number): string[] => {
      const urn = urnOf(id)
      return urn ? [schemaFieldParts(urn).fieldPath] : []
    }
    for (const id of slice) {
      const urn = assets.get(id)
      const named = namedOf.get(id)
      if (!urn) continue
      const idOf = new Map(
        (named?.visible ?? []).flatMap((column) =>
          pathOf(column).map((path): [string, number] => [path, column])
        )
      )
      const removed = new Set((named?.removed ?? []).flatMap(pathOf))
      const types = typesOf(documents.get(id)?.get('schemaMetadata'), removed)
      found.set(id, rowsOf(urn, types, idOf, rims, count))
      await reader.pause()
    }
  }
  return found
}

/** The paths of a schema, in its order, with their types. */
function typesOf(schema: JsonObject | undefined, removed: ReadonlySet<string>): Map<string, string | null> {
  const types = new Map<string, string | null>()
  for (const field of listOf(schema?.fields)) {
    if (!isObject(field) || typeof field.fieldPath !== 'string' || removed.has(field.fieldPath)) continue
    types.set(field.fieldPath, typeof field.nativeDataType === 'string' ? field.nativeDataType : null)
  }
  return types
}

function rowsOf(
  assetUrn: Urn,
  types: ReadonlyMap<string, string | null>,
  idOf: ReadonlyMap<string, number>,
  rims: Rims,
  count: number
): ColumnRows {
  const paths = [...types.keys(), ...[...idOf.keys()].filter((path) => !types.has(path))]
  const rimsOf = (path: string): [Rim, Rim] => {
    const id = idOf.get(path) ?? 0
    return [rims.UPSTREAM.get(id) ?? none, rims.DOWNSTREAM.get(id) ?? none]
  }
  const rank = (path: string): number => {
    const [up, down] = rimsOf(path)
    if (up.count > up.hidden || down.count > down.hidden) return 0
    return up.count + down.count > 0 ? 1 : 2
  }
  const ranks = new Map(paths.map((path) => [path, rank(path)]))
  const first = paths.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0)).slice(0, count)
  return {
    total: paths.length,
    rows: first.map((path) => {
      const [up, down] = rimsOf(path)
      return {
        urn: urnOfColumn(assetUrn, path),
        path,
        dataType: types.get(path) ?? null,
        upstreamCount: up.count,
        downstreamCount: down.count,
        hiddenUpstream: up.hidden,
        hiddenDownstream: down.hidden
      }
    })
  }
}

function urnOfColumn(assetUrn: Urn, path: string): Urn | null {
  try {
    return schemaFieldUrn(assetUrn, path)
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}
