/** Aspects that any entity may have: status, ownership. */
import { defaulted, flag, list, optional, record, required, text, urn } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { auditStamp } from './shared-records.ts'

export const status: AspectModel = {
  name: 'status',
  isKeptOn: 'anyType',
  template: () => ({ removed: false }),
  shape: record({ removed: defaulted(flag, () => false) })
}

export const ownership: AspectModel = {
  name: 'ownership',
  isKeptOn: 'anyType',
  template: () => ({ owners: [] }),
  shape: record({
    owners: required(
      list(
        record({
          owner: required(urn('corpuser', 'corpGroup')),
          type: optional(text),
          typeUrn: optional(urn())
        })
      )
    ),
    lastModified: optional(auditStamp)
  })
}
