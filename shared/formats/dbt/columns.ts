/** Proposes the columns of a table as schemaMetadata, from the catalog or the manifest. */
import type { JsonObject } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { columnsOf, schemaOf } from '../../openlineage/facets/schema.ts'
import { tagUrn } from '../../openlineage/facets/people-and-texts.ts'
import { EventParts } from '../../openlineage/parts.ts'
import { platformOf } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import type { PickedColumn } from './pick-node.ts'
import type { OwnFacts } from './own-facts.ts'
import { add, patch, remove, upsert, type Addition, type Operation } from './proposals.ts'

/**
 * The columns of the catalog, with descriptions from the manifest; without a catalog, the columns of the
 * manifest. Names are compared ignoring case, because a warehouse may change it.
 */
export function knownColumns(
  ofCatalog: readonly PickedColumn[] | null,
  ofManifest: readonly PickedColumn[]
): readonly PickedColumn[] {
  if (ofCatalog === null) return ofManifest
  const described = new Map(ofManifest.map((column) => [column.name.toLowerCase(), column]))
  return ofCatalog.map((column) => {
    const { description = null, tags } = described.get(column.name.toLowerCase()) ?? {}
    return { ...column, description: description ?? column.description, ...(tags ? { tags } : {}) }
  })
}

/**
 * A catalog has all columns, so they replace the stored columns. A manifest only has columns that somebody
 * described. They are added to the stored columns one by one, and a stored type stays if the manifest has
 * none. What the project wrote before and no longer has is taken away.
 */
export function columnProposals(
  { urn, tableName, isWhole }: { urn: Urn; tableName: string; isWhole: boolean },
  columns: readonly PickedColumn[],
  gone: Pick<OwnFacts, 'goneDescriptions' | 'goneColumnTags'>
): JsonObject[] {
  const fields = columns.map(({ name, type, description }) => ({
    name,
    ...(type === null ? {} : { type }),
    ...(description === null ? {} : { description })
  }))
  const platform = platformOf(urn)
  const schema =
    platform === null ? null : schemaOf(columnsOf(fields, 'columns', new EventParts()), platform, tableName)
  const taken = isWhole
    ? []
    : [
        ...gone.goneDescriptions.map((name) => remove(['fields', name, 'description'])),
        ...gone.goneColumnTags.map((name) => remove(['fields', name, 'globalTags']))
      ]
  if (!schema) return taken.length > 0 ? [patchOf(urn, taken)] : []
  const tagsOf = new Map(columns.map(({ name, tags = [] }) => [name, tags.map(tagUrn)]))
  const listed = listOf(schema.fields).flatMap((field) => (isObject(field) ? [field] : []))
  for (const field of listed) {
    const tags = tagsOf.get(typeof field.fieldPath === 'string' ? field.fieldPath : '') ?? []
    if (tags.length > 0) field.globalTags = { tags: tags.map((tag) => ({ tag })) }
  }
  const whole = upsert(urn, 'schemaMetadata', schema)
  if (isWhole) return [whole]
  const operations = [...listed.flatMap(additionsOf), ...taken]
  const first = { ...whole, headers: { 'If-None-Match': '*' } }
  return operations.length === 0 ? [first] : [first, patchOf(urn, operations)]
}

const patchOf = (urn: Urn, operations: readonly Operation[]): JsonObject =>
  patch(urn, 'schemaMetadata', operations, {
    arrayPrimaryKeys: { fields: ['fieldPath'] },
    forceGenericPatch: true
  })

/** The properties of a column besides its name. */
function additionsOf({ fieldPath, type, nativeDataType, description, globalTags }: JsonObject): Addition[] {
  const at = (name: string): string[] => ['fields', typeof fieldPath === 'string' ? fieldPath : '', name]
  return [
    ...(typeof nativeDataType === 'string' && nativeDataType !== '' && isObject(type)
      ? [add(at('type'), type), add(at('nativeDataType'), nativeDataType)]
      : []),
    ...(typeof description === 'string' ? [add(at('description'), description)] : []),
    ...(isObject(globalTags) ? [add(at('globalTags'), globalTags)] : [])
  ]
}
