/**
 * The changes. Every write, through any interface, becomes a list of these.
 *
 * GraphQL, REST, OpenLineage and loads differ only in how they make the list.
 * shared/catalog/write/apply-records.ts applies it.
 */
import type { ErrorCode, ErrorDetails } from '../errors.ts'
import type { Urn } from '../urn/urn.ts'

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }
export type JsonObject = { [key: string]: JsonValue }

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation = {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  path: string
  from?: string
  value?: JsonValue
}

/** A patch, with the keys that turn arrays into maps (datahub-compatible generic form). */
export type PatchDocument = {
  patch: PatchOperation[]
  arrayPrimaryKeys?: { [arrayName: string]: string[] }
  /**
   * Whether to ignore the aspect's own array keys, so that arrays are addressed by index or by the keys given
   * here.
   */
  forceGenericPatch?: boolean
}

/** What may be sent with an aspect: metadata that is stored as sent, and conditions on the stored version. */
export type WriteHeaders = {
  systemMetadata?: JsonObject
  /** `If-Version-Match`: the version that the caller has read; -1 means that the aspect must be absent. */
  ifVersionMatch?: number
  /** Epoch milliseconds: write only if the aspect was changed after this time. */
  ifModifiedSince?: number
  /** Epoch milliseconds: write only if the aspect was not changed after this time. */
  ifUnmodifiedSince?: number
  /** `If-None-Match: *`: write only if the aspect is absent; otherwise silently do nothing. */
  ifNoneMatch?: boolean
}

export type PatchBefore = {
  seq: number
  line: number
  ordinal: number
  operation: PatchOperation
  changedSeq: number
}

/**
 * Undoes a change of a load, but only if the load's change is still the current one. The load made its
 * changes as `seq`, or as several seqs if it was retried. References of these changes are not checked: they
 * name what was stored before.
 */
export type UndoChange =
  /**
   * `left`: whether the statement was present or absent after the load. `leftSeq`: the seq of the change that
   * made it so. `before`: the statement before the load; null if it was absent.
   */
  | {
      kind: 'undoStatement'
      ownerUrn: Urn
      upstreamUrn: Urn
      downstreamUrn: Urn
      fieldCode: number
      source: string
      recordKey: number
      seq: number
      left: 'present' | 'absent'
      leftSeq: number
      before: {
        seq: number
        line: number
        changedSeq: number
        position: number
        attributes: JsonObject | null
      } | null
    }
  /** Patches of an edge that nobody states. `before` are the patches before the load. */
  | {
      kind: 'undoPatches'
      ownerUrn: Urn
      upstreamUrn: Urn
      downstreamUrn: Urn
      fieldCode: number
      seqs: readonly number[]
      before: readonly PatchBefore[]
    }
  | {
      kind: 'undoAspect'
      entityUrn: Urn
      aspectName: string
      seq: number
      seqs: readonly number[]
      was: 'none' | 'own' | 'kept'
    }
  | {
      kind: 'undoAssociation'
      entityUrn: Urn
      leftSeq: number
      before: { changedSeq: number; domainUrn: Urn | null; attributes: JsonObject | null }
    }
  /** An entity that the load created. */
  | { kind: 'undoCreation'; entityUrn: Urn; seqs: readonly number[] }
  /** An entity whose creation the load, itself an undo, has undone. */
  | { kind: 'undoTakeBack'; entityUrn: Urn; seq: number }

export type Change =
  | {
      kind: 'upsertAspect'
      changeType: 'UPSERT' | 'CREATE' | 'CREATE_ENTITY' | 'UPDATE'
      entityUrn: Urn
      aspectName: string
      value: JsonObject
      headers?: WriteHeaders
    }
  | { kind: 'patchAspect'; entityUrn: Urn; aspectName: string; patch: PatchDocument; headers?: WriteHeaders }
  | { kind: 'deleteAspect'; entityUrn: Urn; aspectName: string }
  | { kind: 'deleteEntity'; entityUrn: Urn; hard: boolean }
  /** States that an asset exists. Name and description go into its properties aspect. */
  | { kind: 'upsertEntity'; entityUrn: Urn; name?: string; description?: string }
  | { kind: 'addEdge'; upstreamUrn: Urn; downstreamUrn: Urn; attributes?: JsonObject }
  /** Removes the statements of this edge from every source. */
  | { kind: 'removeEdge'; upstreamUrn: Urn; downstreamUrn: Urn }
  /**
   * Replaces the statements of `source` (or of all sources, if it is absent) in one lineage aspect of an
   * owner.
   */
  | {
      kind: 'replaceEdges'
      ownerUrn: Urn
      aspectName: string
      source?: string
      edges: { upstreamUrn: Urn; downstreamUrn: Urn; attributes?: JsonObject }[]
    }
  | { kind: 'createDomain'; domainUrn: Urn; name: string; description?: string; parentDomain?: Urn }
  | { kind: 'renameDomain'; domainUrn: Urn; name: string }
  | { kind: 'describeDomain'; domainUrn: Urn; description: string }
  | { kind: 'moveDomain'; domainUrn: Urn; parentDomain: Urn | null }
  | { kind: 'deleteDomain'; domainUrn: Urn }
  /** `onlyIfNone`: only if nothing has ever set or removed the asset's domain, whatever the order. */
  | { kind: 'setDomain'; entityUrn: Urn; domainUrn: Urn; onlyIfNone?: true }
  | { kind: 'unsetDomain'; entityUrn: Urn }
  | UndoChange

/**
 * One record: one line of a load, one proposal of a batch, one mutation. Either all its changes are applied,
 * or none. `line` is its place in the submission (the line number in a load, the index in a call). `fields`
 * names the input of each change (`input.edgesToAdd[37]`), for error messages.
 */
export type ChangeRecord = { line: number; changes: Change[]; fields?: string[] }

/**
 * The result of a record. A change that is older than what is stored counts as unchanged. `staysRemoved`: the
 * soft-deleted entities that it names and does not bring back.
 */
export type Verdict =
  | { line: number; outcome: 'applied' | 'unchanged'; staysRemoved?: readonly Urn[] }
  | { line: number; outcome: 'rejected'; code: ErrorCode; message: string; details: ErrorDetails }

/**
 * What was not used although nothing was rejected, or was written to what stays soft-deleted: how often, and the
 * first messages.
 */
export type LoadWarnings = { count: number; messages: string[] }

/**
 * What happens if references are missing: the record is rejected, or placeholders are created (exists: false
 * until something describes them).
 */
export type MissingReferences = 'reject' | 'create'

/** What an UPSERT of a lineage aspect replaces: every edge of it, or only those that its own source stated. */
export type UpsertReplaces = 'aspect' | 'proposals'

/**
 * The caller. `domainUrns` limits the token to those domains, their descendants, and the assets in them; null for
 * no limit.
 */
export type Actor = {
  urn: Urn
  tokenId: string | null
  scopes: readonly Scope[]
  domainUrns: readonly Urn[] | null
}

export type Scope = 'read' | 'write' | 'admin'
