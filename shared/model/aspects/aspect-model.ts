/** What the registry knows about a modelled aspect. */
import type { JsonObject } from '../changes.ts'
import type { Shape } from '../shape.ts'

export type AspectModel = {
  name: string
  shape: Shape
  /**
   * On which entity types the aspect is accepted besides those that DataHub has it on: on any, as an
   * unmodelled aspect is, or on types that DataHub does not have, because clients have types of their own.
   */
  isKeptOn?: 'anyType' | 'unknownTypes'
  /** The document that a patch starts from if none is stored. The default is `{}`. */
  template?: () => JsonObject
  /** Whether the entity must exist before the aspect is written; else the aspect creates it. */
  requiresEntity?: boolean
}
