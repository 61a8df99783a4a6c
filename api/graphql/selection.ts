/**
 * Tells whether a request selects a field somewhere below the one being resolved, so that unselected data is
 * not read.
 */
import { Kind, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql'

/**
 * `path` is a list of field names, for example `['searchResults', 'paths']`. Directives are ignored: a
 * skipped field counts.
 */
export function selects(
  info: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
  path: readonly string[]
): boolean {
  return info.fieldNodes.some(({ selectionSet }) => holds(selectionSet, path, info))
}

function holds(
  selectionSet: SelectionSetNode | undefined,
  path: readonly string[],
  info: Pick<GraphQLResolveInfo, 'fragments'>
): boolean {
  const [name, ...rest] = path
  if (name === undefined) return true
  return (selectionSet?.selections ?? []).some((selection) => {
    if (selection.kind === Kind.FIELD)
      return selection.name.value === name && holds(selection.selectionSet, rest, info)
    if (selection.kind === Kind.INLINE_FRAGMENT) return holds(selection.selectionSet, path, info)
    return holds(info.fragments[selection.name.value]?.selectionSet, path, info)
  })
}
