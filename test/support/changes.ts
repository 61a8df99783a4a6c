/** Small builders for tests of the write path: URNs, changes, records, and the contexts they are applied in. */
import { randomUUID } from 'node:crypto'
import { applyCall } from '../../shared/catalog/write/apply-call.ts'
import { applyRecords, type ApplyContext } from '../../shared/catalog/write/apply-records.ts'
import type { Guards } from '../../shared/catalog/write/guards.ts'
import { allGuards } from '../../shared/catalog/write/guards.ts'
import { readAspect } from '../../shared/catalog/entities/read-aspects.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { inTransaction } from '../../shared/db/transaction.ts'
import { CatalogError } from '../../shared/errors.ts'
import { prepareAspect } from '../../shared/model/aspect-registry.ts'
import type {
  Actor,
  Change,
  ChangeRecord,
  JsonObject,
  JsonValue,
  PatchOperation,
  Verdict,
  WriteHeaders
} from '../../shared/model/changes.ts'
import { datasetUrn, domainUrn, schemaFieldUrn } from '../../shared/urn/kinds.ts'
import { entityTypeOf, toUrn, type Urn } from '../../shared/urn/urn.ts'

export const dataset = (name: string): Urn => datasetUrn('hive', name)
export const column = (asset: Urn, path: string): Urn => schemaFieldUrn(asset, path)
export const flow = toUrn('urn:li:dataFlow:(airflow,nightly,PROD)')
export const job = (name: string): Urn => toUrn(`urn:li:dataJob:(${flow},${name})`)
export const chart = (name: string): Urn => toUrn(`urn:li:chart:(looker,${name})`)
export const dashboard = (name: string): Urn => toUrn(`urn:li:dashboard:(looker,${name})`)
export const feature = (name: string): Urn => toUrn(`urn:li:mlFeature:(features,${name})`)
export const primaryKey = (name: string): Urn => toUrn(`urn:li:mlPrimaryKey:(features,${name})`)
export const model = (name: string): Urn => toUrn(`urn:li:mlModel:(urn:li:dataPlatform:mlflow,${name},PROD)`)
export const domain = (id: string): Urn => domainUrn(id)

type ChangeType = Extract<Change, { kind: 'upsertAspect' }>['changeType']

/** An aspect as a client would send it: checked, with its defaults. */
export const upsert = (
  entityUrn: Urn,
  aspectName: string,
  value: JsonObject,
  changeType: ChangeType = 'UPSERT',
  headers?: WriteHeaders
): Change => ({
  kind: 'upsertAspect',
  changeType,
  entityUrn,
  aspectName,
  value: prepareAspect(entityTypeOf(entityUrn), aspectName, value),
  ...(headers ? { headers } : {})
})
export const patch = (entityUrn: Urn, aspectName: string, ...operations: PatchOperation[]): Change => ({
  kind: 'patchAspect',
  entityUrn,
  aspectName,
  patch: { patch: operations }
})
export const deleteAspect = (entityUrn: Urn, aspectName: string): Change => ({
  kind: 'deleteAspect',
  entityUrn,
  aspectName
})
export const addEdge = (upstreamUrn: Urn, downstreamUrn: Urn): Change => ({
  kind: 'addEdge',
  upstreamUrn,
  downstreamUrn
})
export const removeEdge = (upstreamUrn: Urn, downstreamUrn: Urn): Change => ({
  kind: 'removeEdge',
  upstreamUrn,
  downstreamUrn
})
export const create = (...urns: Urn[]): Change[] =>
  urns.map((entityUrn) => ({ kind: 'upsertEntity', entityUrn }))
export const createDomain = (urn: Urn, name: string, parentDomain?: Urn): Change => ({
  kind: 'createDomain',
  domainUrn: urn,
  name,
  ...(parentDomain ? { parentDomain } : {})
})
export const setDomain = (entityUrn: Urn, urn: Urn): Change => ({
  kind: 'setDomain',
  entityUrn,
  domainUrn: urn
})
export const unsetDomain = (entityUrn: Urn): Change => ({ kind: 'unsetDomain', entityUrn })
export const hardDelete = (entityUrn: Urn): Change => ({ kind: 'deleteEntity', entityUrn, hard: true })

/** A JSON Pointer segment. */
export const segment = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1')

/** An upstream record with all fields that a server fills in. */
export const upstream = (urn: Urn, more: JsonObject = {}): JsonObject => ({
  auditStamp: { time: 0, actor: 'urn:li:corpuser:unknown' },
  dataset: urn,
  type: 'TRANSFORMED',
  ...more
})

export const record = (line: number, ...changes: Change[]): ChangeRecord => ({ line, changes })

export const somebody: Actor = {
  urn: toUrn('urn:li:corpuser:somebody'),
  tokenId: null,
  scopes: ['read', 'write', 'admin'],
  domainUrns: null
}

export const asCall = (more: Partial<ApplyContext> = {}): ApplyContext => ({
  actor: somebody,
  source: 'manual',
  missingReferences: 'reject',
  operation: 'test',
  requestId: null,
  ...more
})

/** One synchronous call of one record. */
export const apply = (db: Db, ...changes: Change[]): Promise<Verdict[]> =>
  applyCall(db, [record(0, ...changes)], asCall())

/** The outcome of a call with one record that must be accepted. */
export const outcomeOf = async (db: Db, ...changes: Change[]): Promise<string | undefined> =>
  (await apply(db, ...changes))[0]?.outcome

/** The error that a call is refused with; fails if the call succeeds. */
export async function refusalOf(work: Promise<unknown>): Promise<CatalogError> {
  try {
    await work
  } catch (error) {
    if (error instanceof CatalogError) return error
    throw error
  }
  throw new Error('the call was not refused')
}

/** The current value of an aspect, or null. */
export const valueOf = async (db: Db, urn: Urn, aspectName: string): Promise<JsonValue> =>
  (await readAspect(db, urn, aspectName))?.value ?? null

/** The aspect `domains` of an asset in this domain, or in no domain, as it is read back. */
export const inDomain = (urn: Urn | null): JsonObject => ({
  domains: urn === null ? [] : [urn],
  domainAssociations: urn === null ? [] : [{ domain: urn }]
})

export type OpenLoad = { id: string; seq: number; source: string }

export type LoadFacts = {
  source?: string
  seq?: number
  isDestructive?: boolean
  currentPass?: number
  remaining?: number
  state?: string
  missingReferences?: 'reject' | 'create'
}

/**
 * An accepted, unfinished load, as a worker sees it that claims a chunk. Takes a new seq if none is given.
 */
export async function openLoad(db: Db, facts: LoadFacts = {}): Promise<OpenLoad> {
  const id = randomUUID()
  const source = facts.source ?? 'a-load'
  const [row] = await query<{ seq: number }>(
    db,
    `
    insert into load (id, state, format, mode, source, missing_references, actor, scopes, seq, current_pass, remaining, is_destructive, body_ended_at)
    values (?::uuid, ?, 'ndjson', 'merge', ?, ?, ?, '{write}', coalesce(?::bigint, nextval('change_seq')), ?::smallint, ?::int, ?::boolean, now())
    returning seq`,
    [
      id,
      facts.state ?? 'applying',
      source,
      facts.missingReferences ?? 'reject',
      somebody.urn,
      facts.seq ?? null,
      facts.currentPass ?? 3,
      facts.remaining ?? 1000,
      facts.isDestructive ?? true
    ]
  )
  if (!row) throw new Error('no load')
  return { id, seq: row.seq, source }
}

let chunkId = 0

/** Applies records as one chunk of a load. */
export const applyAsChunk = (
  db: Db,
  load: OpenLoad,
  records: readonly ChangeRecord[],
  more: Partial<ApplyContext> = {}
): Promise<Verdict[]> => inTransaction(db, (tx) => applyRecords(tx, records, chunkContext(load, more)))

/** The context of a chunk that has not been applied yet. */
export function chunkContext(load: OpenLoad, more: Partial<ApplyContext> = {}): ApplyContext {
  chunkId += 1
  return asCall({
    source: load.source,
    operation: 'load',
    chunk: { seq: load.seq, loadId: load.id, chunkId },
    ...more
  })
}

/** Ends a load, so that nothing waits for it and it no longer counts as older. */
export const endLoad = (db: Db, load: OpenLoad): Promise<unknown> =>
  query(db, "update load set state = 'done', remaining = 0, finished_at = now() where id = ?::uuid", [
    load.id
  ])

/** All guards except the named ones. */
export const without = (...names: (keyof Guards)[]): Guards => ({
  ...allGuards,
  ...Object.fromEntries(names.map((name) => [name, false]))
})
