/**
 * `extensions.lineage`: the report of each walk of a request, by its key in the answer, and of all together.
 */
import { isDeepStrictEqual } from 'node:util'
import type { LineageReport } from '../../shared/catalog/lineage/lineage-report.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import type { GraphqlContext } from './context.ts'

const reports = new WeakMap<GraphqlContext, Map<string, LineageReport>>()

/** Adds a walk to the answer's extensions. `key` is the operation's key in the answer: its alias, or its name. */
export function reportWalk(context: GraphqlContext, key: string, report: LineageReport): void {
  const walks = reports.get(context) ?? new Map<string, LineageReport>()
  reports.set(context, walks.set(key, report))
  const own = [...walks].map(([name, walk]): [string, JsonObject] => [name, printed(walk)])
  context.extensions.lineage = {
    ...printed(reportOfAll([...walks.values()], report.engine)),
    walks: Object.fromEntries(own)
  }
}

/**
 * Complete if all are; the first reason that cut one; the largest number of hops; the sums of visited
 * entities and of time; the time window if all have the same.
 */
const reportOfAll = (walks: readonly LineageReport[], engine: LineageReport['engine']): LineageReport => ({
  complete: walks.every((walk) => walk.complete),
  truncatedBy: walks.find((walk) => walk.truncatedBy !== null)?.truncatedBy ?? null,
  hops: Math.max(...walks.map((walk) => walk.hops)),
  visited: walks.reduce((sum, walk) => sum + walk.visited, 0),
  ...(walks.some((walk) => walk.indirect)
    ? { indirect: walks.reduce((sum, walk) => sum + (walk.indirect ?? 0), 0) }
    : {}),
  ms: Math.round(walks.reduce((sum, walk) => sum + walk.ms, 0) * 100) / 100,
  engine: walks.every((walk) => walk.engine === engine) ? engine : 'sql',
  ...(walks.some((walk) => walk.changedSinceFirstPage) ? { changedSinceFirstPage: true } : {}),
  ...(walks[0]?.timeWindow && walks.every((walk) => isDeepStrictEqual(walk.timeWindow, walks[0]?.timeWindow))
    ? { timeWindow: walks[0].timeWindow }
    : {}),
  ...(walks.some((walk) => walk.withoutEffect)
    ? { withoutEffect: [...new Set(walks.flatMap((walk) => walk.withoutEffect ?? []))] }
    : {})
})

const printed = ({ withoutEffect, ...report }: LineageReport): JsonObject => ({
  ...report,
  ...(withoutEffect ? { withoutEffect: [...withoutEffect] } : {})
})
