/**
 * The changes: everything a client can ask for, whichever door it comes through, is a list of these.
 *
 * GraphQL, REST, OpenLineage and loads differ only in how they make the list; shared/catalog/write/apply-records.ts applies it.
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
  /** Whether the aspect's own array keys are left aside, so that arrays are addressed by index or by the keys given here. */
  forceGenericPatch?: boolean
}

/** What may be sent beside an aspect: kept as sent, and conditions on the stored version. */
export type WriteHeaders = {
  systemMetadata?: JsonObject
  /** `If-Version-Match`: the version the caller has read; -1 means that the aspect must be absent. */
  ifVersionMatch?: number
  /** Epoch milliseconds: written only where the aspect was changed after that. */
  ifModifiedSince?: number
  /** Epoch milliseconds: written only where the aspect was not changed after that. */
  ifUnmodifiedSince?: number
  /** `If-None-Match: *`: written only where there is nothing; else nothing is done, and nobody is told. */
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
 * What takes back a change of a load, and only where the load's change is still what is there; the load made its changes as
 * `seq`, or (tried again) as several. References of these are not judged: they name what was there before.
 */
export type UndoChange =
  /**
   * `left`: whether the load left the statement there; `leftSeq`: of which change it was the work then; `before`:
   * what it said before the load, null if it was not there.
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
  /** What patches say of an edge that nobody states; `before` are those that the load found. */
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
  /** An entity that the load brought into existence. */
  | { kind: 'undoCreation'; entityUrn: Urn; seqs: readonly number[] }
  /** An entity that the load (itself an undo) took back. */
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
  /** Says that an asset exists; name and description go into its properties aspect. */
  | { kind: 'upsertEntity'; entityUrn: Urn; name?: string; description?: string }
  | { kind: 'addEdge'; upstreamUrn: Urn; downstreamUrn: Urn; attributes?: JsonObject }
  /** Removes every source's statement of the edge. */
  | { kind: 'removeEdge'; upstreamUrn: Urn; downstreamUrn: Urn }
  /** Replaces what `source` (or everybody, when absent) states in one lineage aspect of an owner. */
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
  /** `onlyIfNone`: only where nothing has been said of the asset's domain, whatever the order. */
  | { kind: 'setDomain'; entityUrn: Urn; domainUrn: Urn; onlyIfNone?: true }
  | { kind: 'unsetDomain'; entityUrn: Urn }
  | UndoChange

/**
 * One record: one line of a load, one proposal of a batch, one mutation. Its changes are applied all or none.
 * `line` is its place in the order of the submission (the line number in a load; the index in a call).
 * `fields` names, for each change, the input it came from (`input.edgesToAdd[37]`), for error messages.
 */
export type ChangeRecord = { line: number; changes: Change[]; fields?: string[] }

/** What became of a record. A change that a newer one has already overtaken counts as unchanged. */
export type Verdict =
  | { line: number; outcome: 'applied' | 'unchanged' }
  | { line: number; outcome: 'rejected'; code: ErrorCode; message: string; details: ErrorDetails }

/** What absent references do: refuse the record, or create placeholders (exists: false until described). */
export type MissingReferences = 'reject' | 'create'

/** Who asked. `domainUrn` limits the token to that domain, what is below it, and the assets in them. */
export type Actor = {
  urn: Urn
  tokenId: string | null
  scopes: readonly Scope[]
  domainUrn: Urn | null
}

export type Scope = 'read' | 'write' | 'admin'
