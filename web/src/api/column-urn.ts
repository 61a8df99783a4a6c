/**
 * The URN of a column, `urn:li:schemaField:(<asset>,<path>)`, both parts of which may contain commas and
 * parentheses; and its path as people read it.
 */
const prefix = 'urn:li:schemaField:'

export const columnUrn = (asset: string, path: string): string => `${prefix}(${asset},${path})`

export const isColumnUrn = (urn: string): boolean => urn.startsWith(prefix)

/** The asset ends at the first comma outside parentheses; everything after it is the path. */
export function columnParts(urn: string): { asset: string; path: string } {
  const inner = urn.slice(prefix.length + 1, -1)
  let depth = 0
  for (let at = 0; at < inner.length; at += 1) {
    if (inner[at] === '(') depth += 1
    else if (inner[at] === ')') depth -= 1
    else if (inner[at] === ',' && depth === 0) return { asset: inner.slice(0, at), path: inner.slice(at + 1) }
  }
  return { asset: inner, path: '' }
}

/**
 * The path without the types that DataHub puts into it: `[version=2.0].[type=struct].city.[type=long].id` is
 * `city.id`.
 */
export const shownPath = (path: string): string =>
  path.replaceAll(/\[(?:version|type|key)=[^\]]*\](?:\.|$)/g, '') || path
