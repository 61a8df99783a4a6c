/**
 * Decides what a load of a project takes away of what its loads wrote before: descriptions, tags, owners and
 * properties that the project no longer has, and that nobody else has written or changed since.
 *
 * What was written, and the checksum of the SQL behind it, is remembered in the property `dbt_wrote` of the asset, so that
 * it is written, undone and deleted together with it.
 */
import { createHash } from 'node:crypto'
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { tagUrn } from '../../openlineage/facets/people-and-texts.ts'
import type { Urn } from '../../urn/urn.ts'
import type { PickedColumn } from './pick-node.ts'
import { isOfNode, memoryProperty } from './property-names.ts'

export type StoredAspects = { readonly [aspectName: string]: JsonObject }

/** What the project says now. `owners` is null if the load does not take them from the project. */
type Facts = {
  id: string
  description: string | null
  tags: readonly Urn[]
  owners: readonly Urn[] | null
  columns: readonly PickedColumn[]
  properties: readonly string[]
  /** Of the SQL from which edges between columns are stated; null without SQL. */
  checksum: string | null
}

export type OwnFacts = {
  isDescriptionGone: boolean
  goneTags: string[]
  goneOwners: string[]
  goneProperties: string[]
  /** Columns without their former description, and without their former tags. */
  goneDescriptions: string[]
  goneColumnTags: string[]
  /** The property that remembers what this load writes; empty if there is nothing to remember. */
  memory: { [name: string]: string }
}

/** The type of the owners that a load writes; an owner of another type is another statement. */
export const ownershipType = 'DATAOWNER'

type Texts = { [column: string]: string }
type Memory = {
  description: string | null
  tags: string[]
  owners: string[]
  described: Texts
  tagged: Texts
  checksum: string | null
}

const noMemory: Memory = {
  description: null,
  tags: [],
  owners: [],
  described: {},
  tagged: {},
  checksum: null
}

/** Whether the memory of an asset with these properties names columns, so that the stored ones are compared. */
export function remembersColumns(customProperties: JsonValue | undefined): boolean {
  const { described, tagged } = memoryOf(objectIn(customProperties)[memoryProperty])
  return Object.keys(described).length > 0 || Object.keys(tagged).length > 0
}

/** The checksum of the SQL that the node had when a load described the asset last; null if that is not known. */
export function rememberedChecksum({ datasetProperties }: StoredAspects, id: string): string | null {
  const known = objectIn(datasetProperties?.customProperties)
  if (known.dbt_unique_id !== id) return null
  const { checksum } = memoryOf(known[memoryProperty])
  return checksum
}

export function ownFacts(stored: StoredAspects, facts: Facts): OwnFacts {
  const document = stored.datasetProperties ?? stored.dashboardInfo ?? {}
  const known = objectIn(document.customProperties)
  const isOwn = known.dbt_unique_id === facts.id
  // Another project that has described the asset since has replaced what this one wrote.
  const before = isOwn ? memoryOf(known[memoryProperty]) : noMemory
  const tags = compare(before.tags, textsAt(stored.globalTags?.tags, 'tag'), facts.tags)
  const owners = compare(
    before.owners,
    textsAt(
      listOf(stored.ownership?.owners).filter((owner) => objectIn(owner).type === ownershipType),
      'owner'
    ),
    facts.owners ?? before.owners
  )
  const described = digests(facts.columns, ({ description }) => description)
  const tagged = digests(facts.columns, ({ tags: all = [] }) =>
    all.length > 0 ? oneText(all.map(tagUrn)) : null
  )
  const columns = listOf(stored.schemaMetadata?.fields).filter(isObject)
  const goneOf = (was: Texts, is: Texts, textOf: (field: JsonObject) => string | null): string[] =>
    columns.flatMap((field) => {
      const name = typeof field.fieldPath === 'string' ? field.fieldPath : ''
      const text = textOf(field)
      const isGone = Object.hasOwn(was, name) && !Object.hasOwn(is, name)
      return isGone && text !== null && digestOf(text) === was[name] ? [name] : []
    })
  const memory = {
    ...(facts.description === null ? {} : { description: digestOf(facts.description) }),
    ...(tags.own.length > 0 ? { tags: tags.own } : {}),
    ...(owners.own.length > 0 ? { owners: owners.own } : {}),
    ...(Object.keys(described).length > 0 ? { described } : {}),
    ...(Object.keys(tagged).length > 0 ? { tagged } : {}),
    ...(facts.checksum === null ? {} : { checksum: facts.checksum })
  }
  const isRemembered = Object.keys(memory).length > 0
  return {
    isDescriptionGone:
      facts.description === null &&
      typeof document.description === 'string' &&
      digestOf(document.description) === before.description,
    goneTags: tags.gone,
    goneOwners: owners.gone,
    goneProperties: isOwn
      ? Object.keys(known).filter(
          (name) =>
            (name === memoryProperty && !isRemembered) || (isOfNode(name) && !facts.properties.includes(name))
        )
      : [],
    goneDescriptions: goneOf(before.described, described, ({ description }) =>
      typeof description === 'string' ? description : null
    ),
    goneColumnTags: goneOf(before.tagged, tagged, ({ globalTags }) => {
      const all = textsAt(objectIn(globalTags).tags, 'tag')
      return all.length > 0 ? oneText(all) : null
    }),
    memory: isRemembered ? { [memoryProperty]: JSON.stringify(memory) } : {}
  }
}

/** What was there already and was not written by this source is somebody else's. */
function compare(
  before: readonly string[],
  present: readonly string[],
  now: readonly string[]
): { own: string[]; gone: string[] } {
  return {
    own: now.filter((each) => before.includes(each) || !present.includes(each)),
    gone: before.filter((each) => present.includes(each) && !now.includes(each))
  }
}

const digests = (columns: readonly PickedColumn[], textOf: (column: PickedColumn) => string | null): Texts =>
  Object.fromEntries(
    columns.flatMap((column) => {
      const text = textOf(column)
      return text === null ? [] : [[column.name, digestOf(text)]]
    })
  )

const objectIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})

const textsAt = (list: JsonValue | undefined, key: string): string[] =>
  listOf(list).flatMap((each) => {
    const text = objectIn(each)[key]
    return typeof text === 'string' ? [text] : []
  })

function memoryOf(property: JsonValue | undefined): Memory {
  if (typeof property !== 'string') return noMemory
  try {
    // Safe: JSON.parse returns only JSON values.
    const value = objectIn(JSON.parse(property) as JsonValue)
    const texts = (list: JsonValue | undefined): string[] =>
      listOf(list).filter((each) => typeof each === 'string')
    return {
      description: typeof value.description === 'string' ? value.description : null,
      tags: texts(value.tags),
      owners: texts(value.owners),
      described: textsOf(value.described),
      tagged: textsOf(value.tagged),
      checksum: typeof value.checksum === 'string' ? value.checksum : null
    }
  } catch {
    // Somebody has changed the property.
    return noMemory
  }
}

const textsOf = (value: JsonValue | undefined): Texts =>
  Object.fromEntries(
    Object.entries(objectIn(value)).flatMap(([name, text]) =>
      typeof text === 'string' ? [[name, text]] : []
    )
  )

/** URNs have no control characters, so different lists have different texts. */
const oneText = (urns: readonly string[]): string => urns.join('\n')

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)
