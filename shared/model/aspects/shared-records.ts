/** The records that several aspects have in common: stamps and edges. */
import type { JsonObject } from '../changes.ts'
import { defaulted, list, map, optional, record, required, text, urn, wholeNumber } from '../shape.ts'
import type { Shape } from '../shape.ts'

/** Who an unstamped change is ascribed to, as DataHub's clients know it. */
const unknownActor = 'urn:li:corpuser:unknown'

export const unsetStamp = (): JsonObject => ({ time: 0, actor: unknownActor })
export const unsetChangeStamps = (): JsonObject => ({ created: unsetStamp(), lastModified: unsetStamp() })

/** Who and when. A client's own stamp is kept as sent; what it leaves out is filled. */
export const auditStamp: Shape = record({
  time: defaulted(wholeNumber, () => 0),
  actor: defaulted(text, () => unknownActor),
  impersonator: optional(text),
  message: optional(text)
})

/** When, and perhaps who. */
export const timeStamp: Shape = record({ time: required(wholeNumber), actor: optional(text) })

export const changeStamps: Shape = record({
  created: defaulted(auditStamp, unsetStamp),
  lastModified: defaulted(auditStamp, unsetStamp),
  deleted: optional(auditStamp)
})

export const customProperties = defaulted(map(text), () => ({}))

/** A list of bare URNs. */
export const urns = (...entityTypes: readonly string[]): Shape => list(urn(...entityTypes))

/** A list of Edge records whose other end is of one of these entity types. */
export const edges = (...entityTypes: readonly string[]): Shape =>
  list(
    record({
      sourceUrn: optional(urn()),
      destinationUrn: required(urn(...entityTypes)),
      created: optional(auditStamp),
      lastModified: optional(auditStamp),
      properties: optional(map(text))
    })
  )
