/** Proposes the columns of a table as schemaMetadata, from the catalog or the manifest. */
import type { JsonObject } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { columnsOf, schemaOf } from '../../openlineage/facets/schema.ts'
import { EventParts } from '../../openlineage/parts.ts'
import { platformOf } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import type { PickedColumn } from './pick-node.ts'
import { add, patch, upsert, type Addition } from './proposals.ts'

/**
 * The columns of the catalog, with descriptions from the manifest; without a catalog, the columns of the
 * manifest. Names are compared ignoring case, because a warehouse may change it.
 */
export function knownColumns(
  ofCatalog: readonly PickedColumn[] | null,
  ofManifest: readonly PickedColumn[]
): readonly PickedColumn[] {
  if (ofCatalog === null) return ofManifest
  const described = new Map(ofManifest.map((column) => [column.name.toLowerCase(), column.description]))
  return ofCatalog.map((column) => ({
    ...column,
    description: described.get(column.name.toLowerCase()) ?? column.description
  }))
}

/**
 * A catalog has all columns, so they replace the stored columns. A manifest only has columns that somebody
 * described. They are added to the stored columns one by one, and a stored type stays if the manifest has
 * none.
 */
export function columnProposals(
  urn: Urn,
  tableName: string,
  columns: readonly PickedColumn[],
  isWhole: boolean
): JsonObject[] {
  const fields = columns.map(({ name, type, description }) => ({
    name,
    ...(type === null ? {} : { type }),
    ...(description === null ? {} : { description })
  }))
  const platform = platformOf(urn)
  const schema =
    platform === null ? null : schemaOf(columnsOf(fields, 'columns', new EventParts()), platform, tableName)
  if (!schema) return []
  const whole = upsert(urn, 'schemaMetadata', schema)
  if (isWhole) return [whole]
  const additions = listOf(schema.fields).flatMap((field) => (isObject(field) ? additionsOf(field) : []))
  const first = { ...whole, headers: { 'If-None-Match': '*' } }
  return additions.length === 0
    ? [first]
    : [
        first,
        patch(urn, 'schemaMetadata', additions, {
          arrayPrimaryKeys: { fields: ['fieldPath'] },
          forceGenericPatch: true
        })
      ]
}

/** The properties of a column besides its name. */
function additionsOf({ fieldPath, type, nativeDataType, description }: JsonObject): Addition[] {
  const at = (name: string): string[] => ['fields', typeof fieldPath === 'string' ? fieldPath : '', name]
  return [
    ...(typeof nativeDataType === 'string' && nativeDataType !== '' && isObject(type)
      ? [add(at('type'), type), add(at('nativeDataType'), nativeDataType)]
      : []),
    ...(typeof description === 'string' ? [add(at('description'), description)] : [])
  ]
}
