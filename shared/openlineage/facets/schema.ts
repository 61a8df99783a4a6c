/** Reads the facet `schema` into the aspect schemaMetadata. */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'

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

/** Null if the facet has no list of fields, and so says nothing about columns. */
export function schemaOf(facet: JsonObject, platformUrn: string, name: string): JsonObject | null {
  if (!Array.isArray(facet.fields)) return null
  // A repeated name counts once.
  const fields = new Map(columnsOf(facet.fields, '').map((field) => [field.fieldPath, field]))
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

type Column = JsonObject & { fieldPath: string }

function columnsOf(sent: JsonValue | undefined, parent: string): Column[] {
  return listOf(sent).flatMap((field): Column[] => {
    if (!isObject(field) || typeof field.name !== 'string' || field.name === '') return []
    const fieldPath = parent === '' ? field.name : `${parent}.${field.name}`
    const nativeDataType = typeof field.type === 'string' ? field.type : ''
    const hasFields = Array.isArray(field.fields) && field.fields.length > 0
    return [
      {
        fieldPath,
        nullable: true,
        type: { type: { [`com.linkedin.schema.${hasFields ? 'RecordType' : typeOf(nativeDataType)}`]: {} } },
        nativeDataType,
        ...(typeof field.description === 'string' ? { description: field.description } : {})
      },
      ...columnsOf(field.fields, fieldPath)
    ]
  })
}
