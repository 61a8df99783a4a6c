/** The facts about a modelled aspect that the registry needs. */
import type { JsonObject } from '../changes.ts'
import type { Shape } from '../shape.ts'

export type AspectModel = {
  name: string
  shape: Shape
  /**
   * The entity types that may have the aspect besides those that may have it in DataHub: any type, as for an
   * unmodelled aspect, or types that DataHub does not have, because clients have types of their own.
   */
  isKeptOn?: 'anyType' | 'unknownTypes'
  /** The document that a patch starts from if none is stored. The default is `{}`. */
  template?: () => JsonObject
  /** Whether the entity must exist before the aspect is written; otherwise the aspect creates it. */
  requiresEntity?: boolean
}
