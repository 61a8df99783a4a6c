/** The state of a page as it stands in its address: read from the query, and changed by going to another query. */
import { useLocation } from 'preact-iso'
import { addressOf, type PageName, type Query } from '../address.ts'

export type Address = {
  query: { readonly [name: string]: string | undefined }
  /** Goes to the same page with some of its query changed; null takes a value out. `replace` for what one would not go back to, such as each letter typed. */
  change: (next: Query, options?: { replace?: boolean }) => void
  /** The address that `change` would go to, for links. */
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

/** The router wants a path, not an address relative to the page. */
export function goTo(
  route: (url: string, replace?: boolean) => void,
  address: string,
  replace = false
): void {
  const { pathname, search, hash } = new URL(address, location.href)
  route(`${pathname}${search}${hash}`, replace)
}
