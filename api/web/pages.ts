/** The pages of the web UI, and the file or redirect for each path below /ui/. */

/**
 * The answer to a path: a file of the site, or a redirect to the proper address of the page, relative to the
 * requested one.
 */
export type Found = { file: string; isHashed: boolean } | { redirect: string }

/** The one page for all views, which reads the address itself. */
const main = 'index.html'

/** The names below /ui/ that are pages. Any other name is unknown. */
export const pages: ReadonlySet<string> = new Set([
  '',
  'search',
  'asset',
  'lineage',
  'domains',
  'map',
  'loads',
  'tokens',
  'edit-lineage',
  'sql',
  'sign-in',
  'explorer',
  'reference'
])

/** The build puts a hash of the content into the name, so such a file never changes. */
const hashed = /^assets\/[\w-]+(?:\.[\w-]+)*$/
/** Other files, such as an icon. */
const plain = /^[\w-]+(?:\.[\w-]+)+$/

/**
 * The answer to `path`, the path of a request without its query; null for an unknown path. Addresses in pages
 * are relative, so a page must have only one address: `/ui` and `/ui/search/` redirect to `/ui/` and
 * `/ui/search`.
 */
export function findPage(path: string): Found | null {
  if (path === '/ui') return { redirect: 'ui/' }
  const name = path.slice('/ui/'.length)
  if (pages.has(name)) return { file: main, isHashed: false }
  if (name.endsWith('/') && pages.has(name.slice(0, -1))) return { redirect: `../${name.slice(0, -1)}` }
  if (hashed.test(name)) return { file: name, isHashed: true }
  return plain.test(name) && !name.endsWith('.html') ? { file: name, isHashed: false } : null
}

/** Whether an unknown path looks like the address of a page. A browser then gets the page that says so. */
export const isMistypedPage = (path: string): boolean => /^\/ui\/[\w-]+$/.test(path)
