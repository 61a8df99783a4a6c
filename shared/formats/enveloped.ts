/** Recognises and reads proposals and legacy snapshots, for the formats `ndjson` and `mcp`. */
import type { Change, JsonObject } from '../model/changes.ts'
import { parseProposal, parseSnapshot } from '../model/proposal.ts'

/** The nesting that the envelope of a proposal or snapshot may add to that of its aspect. */
export const envelopeDepth = 8

const isSnapshot = (value: JsonObject): boolean =>
  value.proposedSnapshot !== undefined && value.proposedSnapshot !== null

/** Whether an object with these keys is a proposal or a snapshot. */
export const hasEnvelopeKeys = (keys: readonly string[]): boolean =>
  !keys.includes('op') &&
  ['proposedSnapshot', 'entityType', 'changeType', 'aspectName'].some((key) => keys.includes(key))

export const isEnveloped = (value: JsonObject): boolean =>
  value.op === undefined &&
  (isSnapshot(value) ||
    value.entityType !== undefined ||
    value.changeType !== undefined ||
    value.aspectName !== undefined)

/** The changes of a proposal or a snapshot. Throws as parseProposal does. */
export const parseEnveloped = (value: JsonObject): Change[] =>
  (isSnapshot(value) ? parseSnapshot(value) : parseProposal(value)).changes
