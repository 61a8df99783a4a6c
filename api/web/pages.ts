/** The pages of the web UI, and what a path below /ui/ leads to. */

/** What answers a path: a file of the site, or the same page at its proper address, relative to the one that was asked for. */
export type Found = { file: string; isHashed: boolean } | { redirect: string }

/** The one page for all views, which looks at the address itself. */
const main = 'index.html'

/** Names below /ui/ and the files that answer them. Every other name is unknown, so that a mistyped address is an error. */
export const pages: ReadonlyMap<string, string> = new Map([
  ['', main],
  ['search', main],
  ['asset', main],
  ['lineage', main],
  ['domains', main],
  ['loads', main],
  ['tokens', main],
  ['edit-lineage', main],
  ['sign-in', main],
  // pages of their own, so that nobody else loads what they need
  ['explorer', 'explorer.html'],
  ['reference', 'reference.html']
])

/** The build writes a hash of the content into the name: such a file never changes. */
const hashed = /^assets\/[\w-]+(?:\.[\w-]+)*$/
/** Other files, such as an icon. */
const plain = /^[\w-]+(?:\.[\w-]+)+$/

/**
 * What `path`, the path of a request without its query, leads to; null if nothing. Addresses in pages are relative, so a page has
 * one address only: `/ui` and `/ui/search/` lead to `/ui/` and `/ui/search`.
 */
export function findPage(path: string): Found | null {
  if (path === '/ui') return { redirect: 'ui/' }
  const name = path.slice('/ui/'.length)
  const page = pages.get(name)
  if (page !== undefined) return { file: page, isHashed: false }
  if (name.endsWith('/') && pages.has(name.slice(0, -1))) return { redirect: `../${name.slice(0, -1)}` }
  if (hashed.test(name)) return { file: name, isHashed: true }
  return plain.test(name) && !name.endsWith('.html') ? { file: name, isHashed: false } : null
}
