/**
 * Reads one record of an undo, which undoes one change of a load.
 *
 * Clients do not send this format: the undo is a load in this format, and the rejects of that load show it.
 */
import { CatalogError } from '../errors.ts'
import type {
  ChangeRecord,
  JsonObject,
  JsonValue,
  PatchBefore,
  PatchOperation,
  UndoChange
} from '../model/changes.ts'
import { parseJson } from '../model/json-checks.ts'
import { isObject } from '../model/json-values.ts'
import { toUrn, type Urn } from '../urn/urn.ts'

/**
 * `nothing` stands for a change that the same load changed again; the record of that later change undoes both.
 * `deleted` and `event` cannot be undone.
 */
export type UndoRecord =
  | UndoChange
  | { kind: 'nothing' }
  | { kind: 'deleted'; entityUrn: Urn }
  | { kind: 'event'; entityUrn: Urn; aspectName: string }

/** Throws UNSUPPORTED for a change that cannot be undone, and BAD_REQUEST for an invalid record. */
export function parseUndoRecord(text: string, line: number): ChangeRecord {
  const value = parseJson(text, 'The record')
  if (!isObject(value)) throw noRecord()
  return { line, changes: changesOf(value) }
}

function changesOf(value: JsonObject): UndoChange[] {
  const urn = (name: string): Urn => toUrn(value[name], name)
  switch (value.kind) {
    case 'nothing':
      return []
    case 'deleted':
      throw new CatalogError(
        'UNSUPPORTED',
        `${urn('entityUrn')} was permanently deleted by the load, which cannot be undone`,
        { urn: urn('entityUrn'), field: 'entityUrn' }
      )
    case 'event':
      throw new CatalogError(
        'UNSUPPORTED',
        `An event of ${text(value, 'aspectName')} of ${urn('entityUrn')} stays: events cannot be undone`,
        { urn: urn('entityUrn'), field: 'aspectName' }
      )
    case 'undoStatement':
      return [
        {
          kind: value.kind,
          ownerUrn: urn('ownerUrn'),
          upstreamUrn: urn('upstreamUrn'),
          downstreamUrn: urn('downstreamUrn'),
          fieldCode: number(value, 'fieldCode'),
          source: text(value, 'source'),
          recordKey: number(value, 'recordKey'),
          seq: number(value, 'seq'),
          left: value.left === 'absent' ? 'absent' : 'present',
          leftSeq: number(value, 'leftSeq'),
          before: isObject(value.before)
            ? {
                seq: number(value.before, 'seq'),
                line: number(value.before, 'line'),
                changedSeq: number(value.before, 'changedSeq'),
                position: number(value.before, 'position'),
                attributes: objectOrNull(value.before.attributes)
              }
            : null
        }
      ]
    case 'undoPatches':
      return [
        {
          kind: value.kind,
          ownerUrn: urn('ownerUrn'),
          upstreamUrn: urn('upstreamUrn'),
          downstreamUrn: urn('downstreamUrn'),
          fieldCode: number(value, 'fieldCode'),
          seqs: numbers(value.seqs),
          before: Array.isArray(value.before) ? value.before.map(patchOf) : []
        }
      ]
    case 'undoAspect':
      return [
        {
          kind: value.kind,
          entityUrn: urn('entityUrn'),
          aspectName: text(value, 'aspectName'),
          seq: number(value, 'seq'),
          seqs: numbers(value.seqs),
          was: value.was === 'none' || value.was === 'own' ? value.was : 'kept'
        }
      ]
    case 'undoAssociation': {
      const before = isObject(value.before) ? value.before : {}
      return [
        {
          kind: value.kind,
          entityUrn: urn('entityUrn'),
          leftSeq: number(value, 'leftSeq'),
          before: {
            changedSeq: typeof before.changedSeq === 'number' ? before.changedSeq : 0,
            domainUrn:
              typeof before.domainUrn === 'string' ? toUrn(before.domainUrn, 'before.domainUrn') : null,
            attributes: objectOrNull(before.attributes)
          }
        }
      ]
    }
    case 'undoCreation':
      return [{ kind: value.kind, entityUrn: urn('entityUrn'), seqs: numbers(value.seqs) }]
    case 'undoTakeBack':
      return [{ kind: value.kind, entityUrn: urn('entityUrn'), seq: number(value, 'seq') }]
    default:
      throw noRecord()
  }
}

function patchOf(value: JsonValue): PatchBefore {
  if (!isObject(value) || !isObject(value.operation)) throw noRecord()
  const [seq, line, ordinal, changedSeq] = [
    number(value, 'seq'),
    number(value, 'line'),
    number(value, 'ordinal'),
    number(value, 'changedSeq')
  ]
  return { seq, line, ordinal, changedSeq, operation: value.operation as PatchOperation }
}

const objectOrNull = (value: JsonValue | undefined): JsonObject | null => (isObject(value) ? value : null)

function number(value: JsonObject, name: string): number {
  const found = value[name]
  if (typeof found !== 'number') throw noRecord()
  return found
}

function text(value: JsonObject, name: string): string {
  const found = value[name]
  if (typeof found !== 'string') throw noRecord()
  return found
}

function numbers(value: JsonValue | undefined): number[] {
  if (!Array.isArray(value) || value.length === 0) throw noRecord()
  return value.map((each) => {
    if (typeof each !== 'number') throw noRecord()
    return each
  })
}

const noRecord = (): CatalogError => new CatalogError('BAD_REQUEST', 'Not a valid undo record')
