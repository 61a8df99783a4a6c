/** What the registry knows of an aspect that is modelled. */
import type { JsonObject } from '../changes.ts'
import type { Shape } from '../shape.ts'

export type AspectModel = {
  name: string
  shape: Shape
  /**
   * Where the aspect is kept beside the entity types that DataHub has it on: on any, as what is not modelled is, or on types that DataHub
   * does not have, because clients bring their own types.
   */
  isKeptOn?: 'anyType' | 'unknownTypes'
  /** The document a patch starts from where nothing is stored; `{}` where absent. */
  template?: () => JsonObject
  /** Whether the entity must exist before the aspect is written; else the aspect creates it. */
  requiresEntity?: boolean
}
