/** The state of a page in its address: read from the query, and changed by navigating to another query. */
import { useLocation } from 'preact-iso'
import { addressOf, type PageName, type Query } from '../address.ts'
import { mayLeave } from './unsaved.ts'

export type Address = {
  query: { readonly [name: string]: string | undefined }
  /**
   * Navigates to the same page with parts of its query changed; null removes a value. `replace` keeps a
   * change out of the history, such as that of each letter typed.
   */
  change: (next: Query, options?: { replace?: boolean }) => void
  /** The address that `change` would navigate to, for links. */
  with: (next: Query) => string
}

export function useAddress(page: PageName): Address {
  const { query, route } = useLocation()
  const withChanges = (next: Query): string => addressOf(page, { ...query, ...next })
  return {
    query,
    change: (next, { replace = false } = {}) => {
      goTo(route, withChanges(next), replace)
    },
    with: withChanges
  }
}

/** Navigates, unless something unsaved is kept. The router needs a path, not an address relative to the page. */
export function goTo(
  route: (url: string, replace?: boolean) => void,
  address: string,
  replace = false
): void {
  if (!mayLeave()) return
  const { pathname, search, hash } = new URL(address, location.href)
  route(`${pathname}${search}${hash}`, replace)
}
