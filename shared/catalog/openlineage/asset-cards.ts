/**
 * The parts of Marquez' answers that describe a dataset or a job: names, columns, description, inputs and
 * outputs.
 */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { nodeIdOf, type NodeKind } from '../../openlineage/node-id.ts'
import { findStreamingJobs, readStamps } from '../../store/named-assets.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import type { LineageReader } from '../lineage/lineage-reader.ts'
import { namesOfAssets, type NamedAsset } from './named-assets.ts'

export type AssetCard = {
  id: number
  urn: Urn
  nodeId: string
  type: 'DATASET' | 'JOB'
  name: NamedAsset
  /** The entity as a `Dataset` or `Job` of Marquez. */
  data: JsonObject
}

/**
 * The cards of the ids that are datasets or jobs, in their order; Marquez' answers have no place for other
 * entities.
 */
export async function readCards(reader: LineageReader, ids: readonly number[]): Promise<AssetCard[]> {
  const urnOf = await reader.urns(ids)
  const wanted = ids.flatMap((id) => {
    const urn = urnOf(id)
    return urn !== null && isShown(urn) ? [{ id, urn }] : []
  })
  const shownIds = wanted.map(({ id }) => id)
  const jobIds = wanted.filter(({ urn }) => entityTypeOf(urn) === 'dataJob').map(({ id }) => id)
  const [inputsOf, outputsOf] = [
    await reader.neighbours(jobIds, 'UPSTREAM', 'asset'),
    await reader.neighbours(jobIds, 'DOWNSTREAM', 'asset')
  ]
  const endIds = [...new Set(jobIds.flatMap((id) => [...inputsOf(id), ...outputsOf(id)]))]
  const endUrnOf = await reader.urns(endIds)
  const documents = await reader.documents(shownIds, aspectNames)
  const { names, stamps, streaming } = await reader.inSql('reading names', async (tx, within) => ({
    names: await within(() =>
      namesOfAssets(tx, [
        ...new Set([...wanted.map(({ urn }) => urn), ...endIds.flatMap((id) => endUrnOf(id) ?? [])])
      ])
    ),
    stamps: await within(() => readStamps(tx, shownIds)),
    streaming: await within(() =>
      findStreamingJobs(
        tx,
        wanted.flatMap(({ urn }) => (entityTypeOf(urn) === 'dataJob' ? [urn] : []))
      )
    )
  }))
  const datasetsAt = (ends: readonly number[]): JsonValue[] =>
    ends.flatMap((id) => {
      const urn = endUrnOf(id)
      const name = urn !== null && entityTypeOf(urn) === 'dataset' ? names.get(urn) : undefined
      return name ? [{ ...name }] : []
    })
  return wanted.flatMap(({ id, urn }): AssetCard[] => {
    const name = names.get(urn)
    if (!name) return []
    const aspects = documents.get(id) ?? new Map<string, JsonObject>()
    const isJob = entityTypeOf(urn) === 'dataJob'
    const common = {
      id: { ...name },
      name: name.name,
      namespace: name.namespace,
      createdAt: stamps.get(id)?.createdAt.toISOString() ?? null,
      updatedAt: stamps.get(id)?.updatedAt.toISOString() ?? null,
      description: textIn(aspects.get(isJob ? 'dataJobInfo' : 'datasetProperties'), 'description'),
      facets: {},
      currentVersion: null,
      urn
    }
    const data: JsonObject = isJob
      ? {
          ...common,
          type: streaming.has(urn) ? 'STREAM' : 'BATCH',
          simpleName: name.name,
          parentJobName: null,
          inputs: datasetsAt(inputsOf(id)),
          outputs: datasetsAt(outputsOf(id)),
          location: null,
          latestRun: null
        }
      : {
          ...common,
          type: 'DB_TABLE',
          physicalName: name.name,
          sourceName: name.namespace,
          fields: fieldsIn(aspects.get('schemaMetadata')),
          tags: tagsIn(aspects.get('globalTags')),
          lastModifiedAt: null,
          deleted: aspects.get('status')?.removed === true
        }
    return [
      {
        id,
        urn,
        nodeId: nodeIdOf(isJob ? 'job' : 'dataset', name),
        type: isJob ? 'JOB' : 'DATASET',
        name,
        data
      }
    ]
  })
}

const aspectNames = ['datasetProperties', 'dataJobInfo', 'schemaMetadata', 'globalTags', 'status']

const isShown = (urn: Urn): boolean => ['dataset', 'dataJob'].includes(entityTypeOf(urn))

/** The entity type of a kind of node. */
export const entityTypeOfNode = (kind: NodeKind): 'dataset' | 'dataJob' =>
  kind === 'job' ? 'dataJob' : 'dataset'

const textIn = (document: JsonObject | undefined, key: string): string | null => {
  const text = document?.[key]
  return typeof text === 'string' ? text : null
}

const fieldsIn = (schema: JsonObject | undefined): JsonValue[] =>
  listOf(schema?.fields).flatMap((field) =>
    isObject(field) && typeof field.fieldPath === 'string'
      ? [
          {
            name: field.fieldPath,
            type: textIn(field, 'nativeDataType'),
            tags: tagsIn(isObject(field.globalTags) ? field.globalTags : undefined),
            description: textIn(field, 'description')
          }
        ]
      : []
  )

const tagsIn = (document: JsonObject | undefined): string[] =>
  listOf(document?.tags).flatMap((each) =>
    isObject(each) && typeof each.tag === 'string' ? [each.tag.replace('urn:li:tag:', '')] : []
  )
