/**
 * The schema that an asset is in according to its URN: database and schema of a table, the upper folders of a
 * file, the flow of a job, the namespace of a feature.
 */
import { splitUrn, firstUrnOf, type Urn } from './urn.ts'

/** Platforms whose names have no folders: the dots of a topic are part of its name. */
const platformsOfTopics: ReadonlySet<string> = new Set(
  ['kafka', 'pulsar', 'kinesis', 'rabbitmq', 'pubsub'].map((name) => `urn:li:dataPlatform:${name}`)
)

/** An instance, a database and a schema; folders below the third do not count. */
const partsMaxCount = 3

/** Empty for an asset that is in no schema. */
export function schemaIn(urn: Urn): string {
  const { entityType, parts } = splitUrn(urn)
  const [first = '', second = ''] = parts
  if (entityType === 'dataset') return schemaOfName(second, first)
  if (entityType === 'dataJob') return splitUrn(firstUrnOf(urn)).parts[1] ?? ''
  if (entityType === 'dataFlow') return second
  return entityType === 'mlFeature' || entityType === 'mlPrimaryKey' ? first : ''
}

/**
 * The schema in the name of a dataset: what is before the last slash, or before the last dot of a name without
 * slashes, cut after three parts.
 */
export function schemaOfName(name: string, platformUrn: string | null): string {
  const isPath = name.includes('/')
  if (!isPath && platformUrn !== null && platformsOfTopics.has(platformUrn)) return ''
  const sign = isPath ? '/' : '.'
  // A sign at the beginning or at the end of the name is part of it.
  const last = name.lastIndexOf(sign, name.length - 2)
  let end = name.indexOf(sign, 1)
  if (end < 0 || end > last) return ''
  for (let parts = 1; parts < partsMaxCount && end < last; parts += 1) end = name.indexOf(sign, end + 1)
  return name.slice(0, end)
}
