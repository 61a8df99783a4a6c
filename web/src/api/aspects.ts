/** All aspects of an entity from the REST API, and readers of the few that pages show. */
import { ApiError } from './errors.ts'
import { rest } from './request.ts'

export type AspectValue = { [field: string]: unknown }
export type Aspect = {
  value: AspectValue
  /** The number of the newest version of the aspect. */
  version: number
  writtenAt: number | null
  actor: string | null
}
export type Aspects = { readonly [name: string]: Aspect }

type Answered = {
  value: AspectValue
  systemMetadata?: { version?: string }
  auditStamp?: { time: number; actor: string }
}

const aspectOf = ({ value, systemMetadata, auditStamp }: Answered): Aspect => ({
  value,
  version: Number(systemMetadata?.version ?? 1),
  // Zero means an unknown time.
  writtenAt: auditStamp?.time || null,
  actor: auditStamp?.time ? auditStamp.actor : null
})

const isAnswered = (value: unknown): value is Answered =>
  typeof value === 'object' && value !== null && 'value' in value

/** The aspects by name; empty for a placeholder. Throws ApiError. */
export async function readAspects(urn: string, signal: AbortSignal): Promise<Aspects> {
  let answer: { [name: string]: unknown }
  try {
    answer = await rest(`openapi/v3/entity/generic/${encodeURIComponent(urn)}?systemMetadata=true`, {
      signal
    })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return {}
    throw error
  }
  return Object.fromEntries(
    Object.entries(answer).flatMap(([name, value]) => (isAnswered(value) ? [[name, aspectOf(value)]] : []))
  )
}

/**
 * An older version of one aspect; 1 is the oldest. Throws ApiError, NOT_FOUND if the version is no longer
 * kept.
 */
export async function readAspectVersion(
  urn: string,
  name: string,
  version: number,
  signal: AbortSignal
): Promise<Aspect> {
  const [, , entityName = ''] = urn.split(':')
  const answer = await rest<{ [name: string]: unknown }>(
    `openapi/v3/entity/${entityName}/${encodeURIComponent(urn)}/${name}?version=${version}&systemMetadata=true`,
    { signal }
  )
  const value = isAnswered(answer) ? answer : Object.values(answer).find(isAnswered)
  if (!value) throw new Error(`The answer has no aspect ${name}.`)
  return aspectOf(value)
}

const isObject = (value: unknown): value is AspectValue =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectsOf = (value: unknown): AspectValue[] =>
  Array.isArray(value) ? value.filter(isObject) : []
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

export const infoAspects = [
  'datasetProperties',
  'dataJobInfo',
  'dataFlowInfo',
  'chartInfo',
  'dashboardInfo',
  'containerProperties',
  'mlModelProperties',
  'mlModelGroupProperties',
  'mlFeatureProperties',
  'mlFeatureTableProperties',
  'mlPrimaryKeyProperties',
  'dataProcessInstanceProperties',
  'notebookInfo',
  'metricInfo',
  'semanticModelInfo',
  'dataProductProperties',
  'applicationProperties',
  'domainProperties',
  'tagProperties',
  'glossaryTermInfo',
  'glossaryNodeInfo',
  'dataPlatformInstanceProperties',
  'corpUserInfo',
  'corpGroupInfo'
]

/** The aspect in which producers describe an entity of its type. */
export const infoOf = (aspects: Aspects): AspectValue =>
  infoAspects.map((name) => aspects[name]?.value).find((value) => value !== undefined) ?? {}

/** A description by people wins over one by producers. */
export function descriptionOf(aspects: Aspects): string | null {
  const edited = Object.entries(aspects)
    .filter(([name]) => /^editable.*Properties$|^corp(?:User|Group)EditableInfo$/.test(name))
    .map(([, { value }]) => textOf(value.description) ?? textOf(value.aboutMe))
  const info = infoOf(aspects)
  return edited.find((text) => text !== null) ?? textOf(info.description) ?? textOf(info.definition)
}

export type Column = { path: string; type: string; description: string; tags: readonly string[] }

/** The columns of the schema in its order, with descriptions by people. */
export function columnsIn(aspects: Aspects): Column[] {
  const edited = new Map(
    objectsOf(aspects.editableSchemaMetadata?.value.editableSchemaFieldInfo).map((field) => [
      textOf(field.fieldPath) ?? '',
      field
    ])
  )
  return objectsOf(aspects.schemaMetadata?.value.fields).map((field) => {
    const path = textOf(field.fieldPath) ?? ''
    const more = edited.get(path)
    return {
      path,
      type: textOf(field.nativeDataType) ?? '',
      description: textOf(more?.description) ?? textOf(field.description) ?? '',
      tags: [field, more].flatMap((each) =>
        objectsOf((each?.globalTags as AspectValue | undefined)?.tags).flatMap(({ tag }) => textOf(tag) ?? [])
      )
    }
  })
}
