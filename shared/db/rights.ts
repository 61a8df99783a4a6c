/** Which rights the role of a connection lacks, as a sentence with the SQL that grants them. */
import type { Db } from './database.ts'
import { query } from './query.ts'

/** What the API and the workers do with the rows of each table. Only the migrations do more. */
const rowRights = {
  all: ['select', 'insert', 'update', 'delete'],
  appended: ['select', 'insert'],
  read: ['select']
} as const

/** Every table of the catalog. A test compares the names with the schema. */
export const tableRights: Readonly<Record<string, keyof typeof rowRights>> = {
  access_token: 'all',
  aspect: 'all',
  aspect_history: 'all',
  audit: 'appended',
  chunk: 'all',
  domain: 'all',
  domain_association: 'all',
  domain_rules: 'all',
  edge_patch: 'all',
  edge_tombstone: 'all',
  entity: 'all',
  graph_change: 'all',
  graph_epoch: 'all',
  graph_horizon: 'all',
  load: 'all',
  load_declaration: 'all',
  load_journal: 'all',
  openlineage_event: 'all',
  openlineage_state: 'all',
  reject: 'all',
  replace_watermark: 'all',
  schema_migration: 'read',
  search_backlog: 'all',
  search_document: 'all',
  sign_in_code: 'all',
  snapshot_removal: 'all',
  snapshot_statement: 'all',
  statement: 'all',
  statement_source: 'all',
  timeseries_aspect: 'all',
  web_session: 'all',
  worker: 'all'
}

/** Every sequence that is not part of a table; the processes draw from it and read it. */
export const sequences: readonly string[] = ['absence_seq', 'change_seq']
const sequenceRights = ['usage', 'select']

/** With more tables than this the SQL names all tables of the schema. */
const tablesNamedMaxCount = 8

/** Where the list of migrations is, or where this role would create it; `owner` is null if there is none. */
type Place = {
  role: string
  database: string
  databaseOwner: string
  /** Null if the search_path names no schema that exists. */
  schema: string | null
  owner: string | null
  isOwner: boolean
  mayUse: boolean
  mayCreate: boolean
  mayCreateInDatabase: boolean
  mayMakeTemporary: boolean
  ownsQueue: boolean
  isStandby: boolean
  isReadOnly: boolean
}

/**
 * Names are quoted for SQL. `schema` is that of the list of migrations, also if this role may not use that schema
 * and so does not find the list by its name.
 */
const placeQuery = `
  with path as (
    select
      namespace.oid,
      namespace.nspname as name,
      pg_catalog.array_position(
        pg_catalog.string_to_array(
          pg_catalog.regexp_replace(
            pg_catalog.replace(pg_catalog.current_setting('search_path'), '"$user"', current_user),
            '[" ]', '', 'g'
          ),
          ','
        ),
        namespace.nspname::text
      ) as ordinal
    from pg_catalog.pg_namespace namespace
  ),
  place as (
    select path.oid, path.name, ledger.relowner
    from path
    left join pg_catalog.pg_class ledger on ledger.relnamespace = path.oid
      and ledger.relname = 'schema_migration'
      and ledger.relkind = 'r'
    where path.ordinal is not null
    order by ledger.oid is null, path.ordinal
    limit 1
  )
  select
    pg_catalog.quote_ident(current_user) as role,
    pg_catalog.quote_ident(pg_catalog.current_database()) as database,
    pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(own.datdba)) as "databaseOwner",
    pg_catalog.quote_ident(place.name) as schema,
    pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(place.relowner)) as owner,
    coalesce(pg_catalog.pg_has_role(place.relowner, 'usage'), false) as "isOwner",
    coalesce(pg_catalog.has_schema_privilege(place.oid, 'usage'), false) as "mayUse",
    coalesce(pg_catalog.has_schema_privilege(place.oid, 'create'), false) as "mayCreate",
    pg_catalog.has_database_privilege(own.oid, 'create') as "mayCreateInDatabase",
    pg_catalog.has_database_privilege(own.oid, 'temporary') as "mayMakeTemporary",
    coalesce(
      (
        select pg_catalog.pg_has_role(queue.nspowner, 'usage')
        from pg_catalog.pg_namespace queue
        where queue.nspname = 'bullmq'
      ),
      false
    ) as "ownsQueue",
    pg_catalog.pg_is_in_recovery() as "isStandby",
    pg_catalog.current_setting('transaction_read_only') = 'on' as "isReadOnly"
  from pg_catalog.pg_database own
  left join place on true
  where own.datname = pg_catalog.current_database()`

/** Something that the role may not do, who can allow it, and how. */
type Lack = { what: string; grantor: string; sql: string }

/**
 * Why a process with this role cannot work, in one sentence with the SQL that grants what is missing; null if
 * it lacks nothing. A database without the schema lacks nothing. `queueInPostgres`: the processes make the tables
 * of the queue themselves.
 */
export async function whyItCannotWork(db: Db, { queueInPostgres = false } = {}): Promise<string | null> {
  const place = await findPlace(db)
  if (place === null) return null
  const lacks = [
    ...(place.owner === null ? [] : await rowLacks(db, place)),
    ...(queueInPostgres ? queueLacks(place) : [])
  ]
  return sentenceOf(place, lacks)
}

/** Why nothing can be written, in one sentence with what to do; null if transactions can write. */
export async function whyItCannotWrite(db: Db): Promise<string | null> {
  const place = await findPlace(db)
  return place === null ? null : readOnlySentence(place)
}

/** Why a role cannot migrate, in one sentence with the SQL that grants what is missing; null if it lacks nothing. */
export async function whyItCannotMigrate(db: Db): Promise<string | null> {
  const place = await findPlace(db)
  if (place === null) return null
  const { role, owner, schema, databaseOwner } = place
  const readOnly = readOnlySentence(place)
  if (readOnly !== null) return readOnly
  if (owner !== null && !place.isOwner)
    return `The role ${role} of DATABASE_URL cannot migrate, because the tables of the schema ${schema} belong to ${owner}: migrate with a DATABASE_URL of ${owner}, or let a superuser hand them over with \`reassign owned by ${owner} to ${role};\`.`
  if (schema === null || (place.mayUse && place.mayCreate)) return null
  return sentenceOf(place, [
    {
      what: `create tables in the schema ${schema}`,
      grantor: `the owner of the database (${databaseOwner}) or a superuser`,
      sql: `grant usage, create on schema ${schema} to ${role};`
    }
  ])
}

async function findPlace(db: Db): Promise<Place | null> {
  const [place] = await query<Place>(db, placeQuery)
  return place ?? null
}

function readOnlySentence({ role, isStandby, isReadOnly }: Place): string | null {
  if (!isStandby && !isReadOnly) return null
  return isStandby
    ? 'The database of DATABASE_URL is a standby, which accepts no writes: use the address of the primary.'
    : `The role ${role} of DATABASE_URL has only transactions that read: as ${role}, run \`alter role ${role} set default_transaction_read_only = off;\`.`
}

async function rowLacks(db: Db, place: Place): Promise<Lack[]> {
  const { role, schema, owner } = place
  const grantor = String(owner)
  const wanted = [
    ...Object.entries(tableRights).flatMap(([name, rights]) =>
      rowRights[rights].map((right) => ({ name, right, kind: 'table' }))
    ),
    ...sequences.flatMap((name) => sequenceRights.map((right) => ({ name, right, kind: 'sequence' })))
  ]
  const rows = await query<{ name: string; right: string; kind: string }>(
    db,
    `
    select wanted.name, wanted.granted as right, wanted.kind
    from unnest(?::text[], ?::text[], ?::text[]) as wanted (name, granted, kind)
    join pg_catalog.pg_class relation on relation.relname = wanted.name
    join pg_catalog.pg_namespace namespace on namespace.oid = relation.relnamespace
    where pg_catalog.quote_ident(namespace.nspname) = ?
      and not case wanted.kind
        when 'table' then pg_catalog.has_table_privilege(relation.oid, wanted.granted)
        else pg_catalog.has_sequence_privilege(relation.oid, wanted.granted)
      end`,
    [
      wanted.map(({ name }) => name),
      wanted.map(({ right }) => right),
      wanted.map(({ kind }) => kind),
      String(schema)
    ]
  )
  const lacks: Lack[] = []
  if (!place.mayUse)
    lacks.push({
      what: `use the schema ${schema}`,
      grantor: `the owner of the database (${place.databaseOwner}) or a superuser`,
      sql: `grant usage on schema ${schema} to ${role};`
    })
  for (const [kind, plural] of [
    ['table', 'tables'],
    ['sequence', 'sequences']
  ] as const) {
    const missing = rows.filter((row) => row.kind === kind)
    if (missing.length === 0) continue
    const names = [...new Set(missing.map(({ name }) => name))].sort()
    const rights = rightsIn(missing)
    const isFew = names.length <= tablesNamedMaxCount
    lacks.push({
      what: `${rights.join(', ')} on ${isFew ? names.join(', ') : `${names.length} ${plural}`}`,
      grantor,
      sql: isFew
        ? grantsOf(missing, schema, role, kind)
        : `grant ${rights.join(', ')} on all ${plural} in schema ${schema} to ${role};${kind === 'table' ? ` ${narrowing(schema, role)}` : ''}`
    })
  }
  return lacks
}

/** Revokes what no process needs and a grant on all tables includes, above all rewriting the audit trail. */
const narrowing = (schema: string | null, role: string): string =>
  Object.entries(tableRights)
    .filter(([, rights]) => rights !== 'all')
    .map(([name, rights]) => {
      const needed: readonly string[] = rowRights[rights]
      const surplus = rowRights.all.filter((right) => !needed.includes(right))
      return `revoke ${surplus.join(', ')} on ${schema}.${name} from ${role};`
    })
    .join(' ')

/** The rights in the order in which SQL names them. */
const rightsIn = (missing: readonly { right: string }[]): string[] =>
  [...rowRights.all, 'usage'].filter((right) => missing.some((row) => row.right === right))

/** One statement for each set of rights, so that nothing more is granted than what is missing. */
function grantsOf(
  missing: readonly { name: string; right: string }[],
  schema: string | null,
  role: string,
  kind: string
): string {
  const namesByRights = new Map<string, string[]>()
  for (const name of [...new Set(missing.map((row) => row.name))].sort()) {
    const rights = rightsIn(missing.filter((row) => row.name === name)).join(', ')
    namesByRights.set(rights, [...(namesByRights.get(rights) ?? []), `${schema}.${name}`])
  }
  return [...namesByRights]
    .map(([rights, names]) => `grant ${rights} on ${kind} ${names.join(', ')} to ${role};`)
    .join(' ')
}

function queueLacks({
  role,
  database,
  databaseOwner,
  mayCreateInDatabase,
  mayMakeTemporary,
  ownsQueue
}: Place): Lack[] {
  const rights = [
    ...(mayCreateInDatabase || ownsQueue ? [] : ['create']),
    ...(mayMakeTemporary ? [] : ['temporary'])
  ]
  return rights.length === 0
    ? []
    : [
        {
          what: 'make the tables of a queue in Postgres',
          grantor: `the owner of the database (${databaseOwner})`,
          sql: `grant ${rights.join(', ')} on database ${database} to ${role};`
        }
      ]
}

function sentenceOf({ role }: Place, lacks: readonly Lack[]): string | null {
  if (lacks.length === 0) return null
  const grantors = [...new Set(lacks.map(({ grantor }) => grantor))]
  const orders = grantors.map((grantor) => {
    const sql = lacks.filter((lack) => lack.grantor === grantor).map((lack) => lack.sql)
    return `as ${grantor}, run \`${sql.join(' ')}\``
  })
  return `The role ${role} of DATABASE_URL may not ${lacks.map(({ what }) => what).join(', nor ')}: ${orders.join('; ')}.`
}
