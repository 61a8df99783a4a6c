/** Merges the resolver maps of all files, and adds the check of its scope to every mutation. */
import { requireScope, requireWholeCatalogAdmin } from '../../shared/catalog/access/authenticate.ts'
import type { GraphqlContext } from './context.ts'

// The SDL defines the arguments; a file that exports resolvers types its own.
type Resolver = (parent: never, args: never, context: GraphqlContext, info: never) => unknown

/** By type and field; fields without an entry are read from the object itself. */
export type ResolverMap = { [typeName: string]: { [fieldName: string]: unknown } }

/** Mutations on tokens need an administrator; all others need `write`. */
const adminFields: ReadonlySet<string> = new Set([
  'createAccessToken',
  'revokeAccessToken',
  'listAccessTokens'
])

/**
 * Later maps add to earlier ones. Throws if two define the same field, because one of them would never run.
 */
export function mergeResolvers(...maps: readonly ResolverMap[]): ResolverMap {
  const merged: ResolverMap = {}
  for (const map of maps) {
    for (const [typeName, fields] of Object.entries(map)) {
      const target = (merged[typeName] ??= {})
      for (const [fieldName, resolver] of Object.entries(fields)) {
        if (Object.hasOwn(target, fieldName)) throw new Error(`two resolvers for ${typeName}.${fieldName}`)
        target[fieldName] = resolver
      }
    }
  }
  return guarded(merged)
}

/** Added to every mutation here, so that no new one can lack the check. */
function guarded(map: ResolverMap): ResolverMap {
  const guard = (typeName: string): { [fieldName: string]: unknown } =>
    Object.fromEntries(
      Object.entries(map[typeName] ?? {}).map(([fieldName, resolver]) => {
        const isAdmins = adminFields.has(fieldName)
        if (typeof resolver !== 'function' || (typeName === 'Query' && !isAdmins))
          return [fieldName, resolver]
        const checked = async (
          parent: never,
          args: never,
          context: GraphqlContext,
          info: never
        ): Promise<unknown> => {
          if (isAdmins) requireWholeCatalogAdmin(context.actor)
          else requireScope(context.actor, 'write')
          try {
            return await (resolver as Resolver)(parent, args, context, info)
          } finally {
            context.letGoOfLineage()
          }
        }
        return [fieldName, checked]
      })
    )
  return { ...map, Query: guard('Query'), Mutation: guard('Mutation') }
}
