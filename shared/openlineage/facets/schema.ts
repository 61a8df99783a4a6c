/** Reads the facet `schema` into the aspect schemaMetadata. */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { refuse, type EventParts } from '../parts.ts'

const fieldTypes: readonly (readonly [RegExp, string])[] = [
  [/^(bool)/i, 'BooleanType'],
  [/^(array|list|repeated)/i, 'ArrayType'],
  [/^(map)/i, 'MapType'],
  [/^(struct|record|row|object)/i, 'RecordType'],
  [/^(timestamp|datetime|time)/i, 'TimeType'],
  [/^(date)/i, 'DateType'],
  [/^(bytes|binary|varbinary|bytea|blob)/i, 'BytesType'],
  [
    /^(u?int|integer|bigint|smallint|tinyint|long|short|byte|float|double|decimal|numeric|number|real)/i,
    'NumberType'
  ],
  [/^enum/i, 'EnumType']
]

const typeOf = (nativeType: string): string =>
  fieldTypes.find(([pattern]) => pattern.test(nativeType))?.[1] ?? 'StringType'

/**
 * Null without columns: Spark sends an empty list for tables that it creates, drops or writes to Kafka, so an
 * empty list means that the columns are unknown.
 */
export function schemaOf(columns: readonly Column[], platformUrn: string, name: string): JsonObject | null {
  if (columns.length === 0) return null
  // A repeated name counts once.
  const fields = new Map(columns.map((field) => [field.fieldPath, field]))
  return {
    schemaName: name,
    platform: platformUrn,
    version: 0,
    hash: '',
    platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
    fields: [...fields.values()]
  }
}

/** The columns without those nested in them. */
export const topColumnsOf = (facet: JsonObject): string[] =>
  listOf(facet.fields).flatMap((field) =>
    isObject(field) && typeof field.name === 'string' && field.name !== '' ? [field.name] : []
  )

export type Column = JsonObject & { fieldPath: string }

/** The columns in the list `fields` of the facet, which is at `field` in the event. */
export const columnsOf = (
  sent: JsonValue | undefined,
  field: string,
  parts: EventParts,
  parent = ''
): Column[] =>
  parts.objects(sent, field).flatMap(({ each, place }): Column[] => {
    if (typeof each.name !== 'string' || each.name === '') {
      parts.drop(refuse(`${place}.name`, 'must be a text that is not empty'))
      return []
    }
    const fieldPath = parent === '' ? each.name : `${parent}.${each.name}`
    const nativeDataType = typeof each.type === 'string' ? each.type : ''
    const hasFields = Array.isArray(each.fields) && each.fields.length > 0
    return [
      {
        fieldPath,
        nullable: true,
        type: { type: { [`com.linkedin.schema.${hasFields ? 'RecordType' : typeOf(nativeDataType)}`]: {} } },
        nativeDataType,
        ...(typeof each.description === 'string' ? { description: each.description } : {})
      },
      ...columnsOf(each.fields, `${place}.fields`, parts, fieldPath)
    ]
  })
