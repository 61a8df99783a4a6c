/** A page whose file is loaded on first use, and says so if that fails. */
import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import { texts } from '../texts.ts'

/** If the file cannot be loaded, as after an upgrade of the server, the page throws: `lazy` would wait forever. */
export const lazyPage = <Props extends object>(
  load: () => Promise<ComponentType<Props>>
): ComponentType<Props> => lazy(() => load().catch(() => Unloaded))

function Unloaded(): never {
  throw new Error(texts.state.unloaded)
}
