/** What the registry knows of an aspect that is modelled. */
import type { JsonObject } from '../changes.ts'
import type { Shape } from '../shape.ts'

export type AspectModel = {
  name: string
  /** Full class name, under which DataHub's clients read it back. */
  className: string
  shape: Shape
  /** Entity types that may have the aspect; any, where absent. */
  entityTypes?: readonly string[]
  /** Entity types that may not have the aspect. */
  refusedOn?: ReadonlySet<string>
  /** The document a patch starts from where nothing is stored; `{}` where absent. */
  template?: () => JsonObject
  /** Whether the entity must exist before the aspect is written; else the aspect creates it. */
  requiresEntity?: boolean
}
