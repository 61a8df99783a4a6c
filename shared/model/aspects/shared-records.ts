/** Records that several aspects share: stamps and edges. */
import type { JsonObject } from '../changes.ts'
import { defaulted, list, map, optional, record, required, text, urn, wholeNumber } from '../shape.ts'
import type { Shape } from '../shape.ts'

/** The actor of a change without a stamp, as DataHub's clients know it. */
const unknownActor = 'urn:li:corpuser:unknown'

export const unsetStamp = (): JsonObject => ({ time: 0, actor: unknownActor })
export const unsetChangeStamps = (): JsonObject => ({ created: unsetStamp(), lastModified: unsetStamp() })

/** Actor and time. A client's own stamp is kept as sent; missing fields are filled in. */
export const auditStamp: Shape = record({
  time: defaulted(wholeNumber, () => 0),
  actor: defaulted(text, () => unknownActor),
  impersonator: optional(text),
  message: optional(text)
})

/** A time, and optionally an actor. */
export const timeStamp: Shape = record({ time: required(wholeNumber), actor: optional(text) })

export const changeStamps: Shape = record({
  created: defaulted(auditStamp, unsetStamp),
  lastModified: defaulted(auditStamp, unsetStamp),
  deleted: optional(auditStamp)
})

export const customProperties = defaulted(map(text), () => ({}))

/** A list of bare URNs. */
export const urns = (...entityTypes: readonly string[]): Shape => list(urn(...entityTypes))

/** A list of Edge records that refer to these entity types. */
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
