/**
 * Relationships between entities: those of lineage from the statements, the others from the tables and
 * aspects that contain them.
 *
 * Each arm is one place where relationships are stored. Within an arm a relationship has a key of three
 * numbers, with which a page tells where the next begins. Reading the arms in their order lists every
 * relationship once.
 */
import type { Db, Tx } from '../db/database.ts'
import { query, type Binding } from '../db/query.ts'
import type { JsonValue } from '../model/changes.ts'
import {
  associatedWith,
  documentRelationships,
  lineageRelationships,
  partOf,
  relationshipTypes
} from '../model/relationships.ts'
import { dataFlowOf } from '../urn/kinds.ts'
import type { Urn } from '../urn/urn.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import { idArray } from './id-array.ts'
import { throughRows, withoutRows } from './rows-of-tables.ts'

/** Entities by URN, and the ids of those that have a row. */
export type Ends = { urns: readonly Urn[]; ids: readonly number[] }

/**
 * Null means no condition. `upstream`, `downstream` and `either` are ends of lineage; other relationships
 * ignore them.
 */
export type RelationshipFilter = {
  types: ReadonlySet<string> | null
  source: Ends | null
  destination: Ends | null
  upstream: Ends | null
  downstream: Ends | null
  either: Ends | null
  sourceTypes: readonly string[] | null
  destinationTypes: readonly string[] | null
  /** Whether relationships are listed if an end is soft-deleted. */
  includesRemoved: boolean
  isLineageOnly: boolean
  /** Only every `max`th relationship, beginning with number `id`, so that each is in exactly one slice. */
  slice: { id: number; max: number } | null
}

/** The filter that all relationships match. */
export const anyRelationship: RelationshipFilter = {
  types: null,
  source: null,
  destination: null,
  upstream: null,
  downstream: null,
  either: null,
  sourceTypes: null,
  destinationTypes: null,
  includesRemoved: true,
  isLineageOnly: false,
  slice: null
}

export type RelationshipKey = readonly [number, number, number]

export type RelationshipRow = {
  key: RelationshipKey
  type: string
  sourceUrn: Urn
  destinationUrn: Urn
  /**
   * The aspect of the source that contains the relationship. Null for lineage, which several aspects may
   * state, and for relationships that are part of a URN.
   */
  aspectName: string | null
  /** The ends of the lineage edge, and which of them is the source; null for other relationships. */
  edge: { upstreamId: number; downstreamId: number; sourceIs: 'upstream' | 'downstream' } | null
}

type Sql = { text: string; bindings: Binding[] }

/**
 * Returns k1, k2, k3, type_no, source_id, destination_id or destination_urn, upstream_id, downstream_id; null
 * if nothing can be found.
 */
type Arm = (filter: RelationshipFilter) => Sql | null

const isWanted = ({ types }: RelationshipFilter, type: string): boolean => types === null || types.has(type)
const numberOf = (type: string): number => relationshipTypes.indexOf(type)
const noEdge = 'null::int as upstream_id, null::int as downstream_id'

/** A condition for each set of ends that is not null. */
function among(ends: Ends | null, ...columns: string[]): Sql {
  if (ends === null) return { text: '', bindings: [] }
  return {
    text: ` and (${columns.map((column) => `${column} = any(?::int[])`).join(' or ')})`,
    bindings: columns.map(() => idArray(ends.ids))
  }
}

function select(text: string, ...conditions: Sql[]): Sql {
  return {
    text: text + conditions.map((condition) => condition.text).join(''),
    bindings: conditions.flatMap((condition) => condition.bindings)
  }
}

const statementsWhere =
  (sourceIs: 'downstream' | 'upstream'): Arm =>
  (filter) => {
    const wanted = lineageRelationships.filter(
      (each) => each.sourceIs === sourceIs && isWanted(filter, each.type)
    )
    if (wanted.length === 0) return null
    const [source, destination] =
      sourceIs === 'downstream'
        ? ['statement.downstream_id', 'statement.upstream_id']
        : ['statement.upstream_id', 'statement.downstream_id']
    const typeNumber = `case statement.field ${wanted.map(({ fieldCode, type }) => `when ${fieldCode} then ${numberOf(type)}`).join(' ')} end`
    const selectFrom = (from: string, ends: RelationshipFilter): Sql =>
      select(
        `
    select statement.downstream_id as k1, statement.upstream_id as k2, ${typeNumber} as k3, ${typeNumber} as type_no,
      ${source} as source_id, ${destination} as destination_id, null::text as destination_urn, statement.upstream_id, statement.downstream_id
    from ${from}`,
        among(ends.source, source),
        among(ends.destination, destination),
        among(ends.upstream, 'statement.upstream_id'),
        among(ends.downstream, 'statement.downstream_id'),
        among(ends.either, 'statement.upstream_id', 'statement.downstream_id')
      )
    const codes = wanted.map(({ fieldCode }) => fieldCode)
    const ofColumns = codes.filter((code) => columnFieldCodes.includes(code))
    const stated = selectFrom(
      `statement where statement.field = any('{${codes.join(',')}}'::smallint[]) and ${withoutRows}`,
      filter
    )
    if (ofColumns.length === 0) return stated
    // The two ends are in two tables, so no index serves both at once. Keys that both find are listed once.
    const { either } = filter
    const oneEnd: RelationshipFilter[] =
      either === null
        ? [filter]
        : [
            { ...filter, either: null, upstream: either },
            { ...filter, either: null, downstream: either }
          ]
    const parts = [
      stated,
      ...oneEnd.map((ends) =>
        selectFrom(
          `${throughRows} as statement where statement.field = any('{${ofColumns.join(',')}}'::smallint[])`,
          ends
        )
      )
    ]
    return {
      text: parts.map(({ text }) => text).join(' union all '),
      bindings: parts.flatMap(({ bindings }) => bindings)
    }
  }

const associations: Arm = (filter) =>
  filter.isLineageOnly || !isWanted(filter, associatedWith)
    ? null
    : select(
        `
    select domain_association.entity_id as k1, domain_association.domain_id as k2, 0 as k3, ${numberOf(associatedWith)} as type_no,
      domain_association.entity_id as source_id, domain_association.domain_id as destination_id, null::text as destination_urn, ${noEdge}
    from domain_association
    join entity domain on domain.id = domain_association.domain_id
    where (domain.is_present or domain.deleted_seq is null)`,
        among(filter.source, 'domain_association.entity_id'),
        among(filter.destination, 'domain_association.domain_id')
      )

const domainParents: Arm = (filter) =>
  filter.isLineageOnly || !isWanted(filter, partOf)
    ? null
    : select(
        `
    select domain.entity_id as k1, domain.parent_id as k2, 0 as k3, ${numberOf(partOf)} as type_no,
      domain.entity_id as source_id, domain.parent_id as destination_id, null::text as destination_urn, ${noEdge}
    from domain
    where domain.parent_id is not null`,
        among(filter.source, 'domain.entity_id'),
        among(filter.destination, 'domain.parent_id')
      )

/** The URN of a job contains its flow; it is parsed when a row is shown. */
const jobsOfFlows: Arm = (filter) => {
  if (filter.isLineageOnly || !isWanted(filter, partOf)) return null
  if (filter.destinationTypes !== null && !filter.destinationTypes.includes('dataFlow')) return null
  const flows = filter.destination?.urns.filter((urn) => urn.startsWith('urn:li:dataFlow:')) ?? null
  if (flows?.length === 0) return null
  // All URNs that begin with the flow and a comma: a range in the index on URNs of jobs.
  const within: Sql =
    flows === null
      ? { text: '', bindings: [] }
      : {
          text: ` and (${flows.map(() => '(entity.urn >= ? and entity.urn < ?)').join(' or ')})`,
          bindings: flows.flatMap((flow) => [`urn:li:dataJob:(${flow},`, `urn:li:dataJob:(${flow}-`])
        }
  return select(
    `
    select entity.id as k1, 0 as k2, 0 as k3, ${numberOf(partOf)} as type_no, entity.id as source_id, null::int as destination_id, 'urn:li:dataFlow:' as destination_urn, ${noEdge}
    from entity
    where entity.entity_type = 'dataJob' and entity.is_present`,
    among(filter.source, 'entity.id'),
    within
  )
}

const numbered = documentRelationships.map((each, number) => ({ ...each, number }))

/** Schemas are long, so only their references are indexed. All other documents are indexed completely. */
const columnAspect = 'schemaMetadata'

const documents: Arm = (filter) => {
  const wanted = numbered.filter(({ type }) => isWanted(filter, type))
  if (filter.isLineageOnly || wanted.length === 0) return null
  const ofColumns = wanted.filter(({ aspectName }) => aspectName === columnAspect)
  const others = wanted.filter(({ aspectName }) => aspectName !== columnAspect)
  const parts = [
    ...(others.length === 0 ? [] : [statedIn(others, filter, namedIn(others, filter.destination))]),
    ...(ofColumns.length === 0 ? [] : [statedIn(ofColumns, filter, namedByColumns(filter.destination))])
  ]
  return {
    text: parts.map((part) => part.text).join(' union all '),
    bindings: parts.flatMap((part) => part.bindings)
  }
}

function statedIn(wanted: readonly (typeof numbered)[number][], filter: RelationshipFilter, named: Sql): Sql {
  const rows = wanted.map(
    ({ number, type, aspectName, path }) =>
      `(${number}, '${aspectName}', '${jsonPathOf(path)}'::jsonpath, ${numberOf(type)})`
  )
  const names = [...new Set(wanted.map(({ aspectName }) => `'${aspectName}'`))]
  return select(
    `
    select aspect.entity_id as k1, related.number as k2, named.place as k3, related.type_no,
      aspect.entity_id as source_id, null::int as destination_id, named.urn as destination_urn, ${noEdge}
    from aspect
    join (values ${rows.join(', ')}) as related (number, aspect_name, path, type_no) on related.aspect_name = aspect.aspect_name
    cross join lateral (
      select entry.value #>> '{}' as urn, min(entry.place)::int as place
      from jsonb_path_query(aspect.value, related.path) with ordinality as entry (value, place)
      group by 1
    ) as named
    where aspect.aspect_name in (${names.join(', ')}) and named.urn like 'urn:li:%:%'`,
    among(filter.source, 'aspect.entity_id'),
    named
  )
}

const jsonPathOf = (path: readonly string[]): string =>
  `$${path.map((step) => (step === '*' ? '[*]' : `."${step}"`)).join('')}`

/** First finds the documents that contain one of the URNs, by index, then their entries that do. */
function namedIn(wanted: readonly (typeof numbered)[number][], ends: Ends | null): Sql {
  if (ends === null) return { text: '', bindings: [] }
  const holding = ends.urns.flatMap((urn) =>
    wanted.map(({ path }) =>
      JSON.stringify(
        path.reduceRight<JsonValue>((inner, step) => (step === '*' ? [inner] : { [step]: inner }), urn)
      )
    )
  )
  return {
    text: ' and aspect.value @> any(?::jsonb[]) and named.urn = any(?::text[])',
    bindings: [holding, ends.urns]
  }
}

/** As namedIn, for columns, with the expression of the index aspect_column_reference_idx. */
function namedByColumns(ends: Ends | null): Sql {
  if (ends === null) return { text: '', bindings: [] }
  return {
    text: ` and (
      jsonb_path_query_array(aspect.value, '$."fields"[*]."globalTags"."tags"[*]."tag"') || jsonb_path_query_array(aspect.value, '$."fields"[*]."glossaryTerms"."terms"[*]."urn"')
      || jsonb_path_query_array(aspect.value, '$."foreignKeys"[*]."foreignDataset"') || jsonb_path_query_array(aspect.value, '$."foreignKeys"[*]."foreignFields"[*]')
    ) @> any(?::jsonb[]) and named.urn = any(?::text[])`,
    bindings: [ends.urns.map((urn) => JSON.stringify([urn])), ends.urns]
  }
}

type ArmFacts = {
  find: Arm
  sourceIs: 'downstream' | 'upstream' | null
  aspectNameOf: (key: RelationshipKey) => string | null
}

const arms: readonly ArmFacts[] = [
  { find: statementsWhere('downstream'), sourceIs: 'downstream', aspectNameOf: () => null },
  { find: statementsWhere('upstream'), sourceIs: 'upstream', aspectNameOf: () => null },
  { find: associations, sourceIs: null, aspectNameOf: () => 'domains' },
  { find: domainParents, sourceIs: null, aspectNameOf: () => 'domainProperties' },
  { find: jobsOfFlows, sourceIs: null, aspectNameOf: () => null },
  {
    find: documents,
    sourceIs: null,
    aspectNameOf: ([, number]) => documentRelationships[number]?.aspectName ?? null
  }
]

export const armsCount = arms.length

/** The arms of URNs and of aspects other than lists of edges. */
export const armsOfAspects: readonly number[] = [associations, domainParents, documents].map((find) =>
  arms.findIndex((arm) => arm.find === find)
)

/** The keys of an arm that pass the filter, each once. */
function keysOf(filter: RelationshipFilter, core: Sql): Sql {
  const { sourceTypes, destinationTypes, includesRemoved, slice } = filter
  const joins = [
    'join entity source on source.id = related.source_id left join entity source_parent on source_parent.id = source.parent_id',
    'left join entity destination on destination.id = related.destination_id left join entity destination_parent on destination_parent.id = destination.parent_id'
  ]
  const needsEnds = sourceTypes !== null || destinationTypes !== null || !includesRemoved
  const conditions: Sql[] = [
    ...(slice === null
      ? []
      : [
          {
            text: ' and (related.k1::bigint * 31 + related.k2) % ?::bigint = ?::bigint',
            bindings: [slice.max, slice.id]
          }
        ]),
    ...(sourceTypes === null
      ? []
      : [{ text: ' and source.entity_type = any(?::text[])', bindings: [sourceTypes] }]),
    ...(destinationTypes === null
      ? []
      : [
          {
            text: " and coalesce(destination.entity_type, split_part(related.destination_urn, ':', 3)) = any(?::text[])",
            bindings: [destinationTypes]
          }
        ]),
    ...(includesRemoved
      ? []
      : [
          {
            text: ' and not (source.is_removed or coalesce(source_parent.is_removed, false) or coalesce(destination.is_removed, false) or coalesce(destination_parent.is_removed, false))',
            bindings: []
          }
        ])
  ]
  return {
    text: `
    select distinct on (related.k1, related.k2, related.k3) related.*
    from (${core.text}) as related
    ${needsEnds ? joins.join(' ') : ''}
    where true${conditions.map(({ text }) => text).join('')}`,
    bindings: [...core.bindings, ...conditions.flatMap(({ bindings }) => bindings)]
  }
}

/** The number of relationships in an arm. */
export async function countRelationships(
  db: Db | Tx,
  armNumber: number,
  filter: RelationshipFilter
): Promise<number> {
  const core = arms[armNumber]?.find(filter)
  if (!core) return 0
  const keys = keysOf(filter, core)
  const [row] = await query<{ total: number }>(
    db,
    `select count(*)::int as total from (${keys.text}) as counted`,
    keys.bindings
  )
  return row?.total ?? 0
}

type FoundRow = {
  k1: number
  k2: number
  k3: number
  typeNumber: number
  upstreamId: number | null
  downstreamId: number | null
  sourceUrn: Urn
  destinationUrn: Urn
}

/**
 * A page of an arm in the order of its keys, after a key or from the beginning, skipping the first `offset`.
 */
export async function pageOfRelationships(
  db: Db | Tx,
  armNumber: number,
  filter: RelationshipFilter,
  page: { after: RelationshipKey | null; offset: number; count: number }
): Promise<RelationshipRow[]> {
  const arm = arms[armNumber]
  const core = arm?.find(filter)
  if (!arm || !core) return []
  const keys = keysOf(filter, core)
  const after =
    page.after === null
      ? { text: '', bindings: [] }
      : {
          text: ' and (related.k1, related.k2, related.k3) > (?::int, ?::int, ?::int)',
          bindings: [...page.after]
        }
  const rows = await query<FoundRow>(
    db,
    `
    with page as (${keys.text}${after.text}
      order by related.k1, related.k2, related.k3
      offset ?::int
      limit ?::int
    )
    select
      page.k1, page.k2, page.k3,
      page.type_no as "typeNumber",
      page.upstream_id as "upstreamId",
      page.downstream_id as "downstreamId",
      source.urn as "sourceUrn",
      coalesce(destination.urn, page.destination_urn) as "destinationUrn"
    from page
    join entity source on source.id = page.source_id
    left join entity destination on destination.id = page.destination_id
    order by page.k1, page.k2, page.k3`,
    [...keys.bindings, ...after.bindings, page.offset, page.count]
  )
  return rows.map(({ k1, k2, k3, typeNumber, upstreamId, downstreamId, sourceUrn, destinationUrn }) => ({
    key: [k1, k2, k3],
    type: relationshipTypes[typeNumber] ?? '',
    aspectName: arm.aspectNameOf([k1, k2, k3]),
    sourceUrn,
    destinationUrn: arm.find === jobsOfFlows ? dataFlowOf(sourceUrn) : destinationUrn,
    edge:
      upstreamId === null || downstreamId === null || arm.sourceIs === null
        ? null
        : { upstreamId, downstreamId, sourceIs: arm.sourceIs }
  }))
}
