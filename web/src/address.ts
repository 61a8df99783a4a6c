/**
 * Addresses of the pages: one segment below /ui/, everything else in the query, so that they work below any
 * path prefix.
 */
export const pageNames = [
  'search',
  'asset',
  'lineage',
  'domains',
  'map',
  'edit-lineage',
  'loads',
  'sql',
  'tokens',
  'explorer',
  'reference',
  'sign-in'
] as const
export type PageName = (typeof pageNames)[number] | ''

export type Query = { readonly [name: string]: string | number | boolean | null | undefined }

/** Relative to any page. Values that are null, undefined, false or empty are left out. */
export function addressOf(page: PageName, query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== false && value !== '')
      params.set(name, String(value))
  const text = params.toString()
  return `./${page}${text && `?${text}`}`
}

/** The page of a path such as /prefix/ui/search; null for an unknown name. */
export function pageOf(path: string): PageName | null {
  const name = /\/ui\/?([^/]*)$/.exec(path)?.[1]
  if (name === undefined) return null
  return name === '' || (pageNames as readonly string[]).includes(name) ? (name as PageName) : null
}

/** Where to go after sign-in: one of our pages, whatever the address says. */
export const safeNext = (next: string | undefined): string =>
  next && /^\.\/[a-z-]*(\?|$)/.test(next) ? next : './'

export const assetAddress = (urn: string, query: Query = {}): string =>
  urn.startsWith('urn:li:domain:') ? addressOf('domains', { urn }) : addressOf('asset', { urn, ...query })
