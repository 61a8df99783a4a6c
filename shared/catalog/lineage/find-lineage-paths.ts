/** Finds the shortest paths from one entity downstream to another, and what asserts each of their steps. */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { WalkBounds } from '../../model/walk.ts'
import { entityTypeOf, toUrn, type Urn } from '../../urn/urn.ts'
import { readVia } from './edge-via.ts'
import { referencesOf } from './entity-references.ts'
import type { LineageReader } from './lineage-reader.ts'
import { millisecondsSince, type LineageReport } from './lineage-report.ts'
import { pageCount } from '../entities/page-count.ts'
import { entityNotFound, type EntityReference } from './read-entity.ts'
import { noPaths, shortestPaths, type ShortestPaths } from './shortest-paths.ts'
import { firstPaths } from './path-steps.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** The input as clients send it. */
export type LineagePathsInput = { from: string; to: string; count?: number | null }

/** `via` is what asserts the edge into this entity, unless it is one of the two ends. */
type PathStep = { entity: EntityReference; via: EntityReference[] }

export type LineagePaths = {
  /** Length of every shortest path; null if none was found. */
  hops: number | null
  /** Number of shortest paths; Number.MAX_SAFE_INTEGER also means more. */
  total: number
  paths: PathStep[][]
  report: LineageReport
}

const walkBounds: WalkBounds = { maxHops: limits.walkMaxHops, maxEntities: limits.walkMaxEntities }

/**
 * Returns the first paths, in the order of their ids from the start. If there is none, the report says
 * whether the search was complete. Throws BAD_REQUEST (ends that are equal, or an asset and a column),
 * INVALID_URN, LIMIT_EXCEEDED (pageMaxCount, pathEntitiesMaxCount), NOT_FOUND for an end that does not exist,
 * DEADLINE_EXCEEDED.
 */
export async function findLineagePaths(
  sources: LineageSources,
  input: LineagePathsInput,
  wishes: { via: boolean },
  bounds: WalkBounds = walkBounds
): Promise<LineagePaths> {
  const [from, to] = [toUrn(input.from, 'input.from'), toUrn(input.to, 'input.to')]
  const count = pageCount(input.count, 'input.count')
  const level = entityTypeOf(from) === 'schemaField' ? 'column' : 'asset'
  if ((entityTypeOf(to) === 'schemaField') !== (level === 'column'))
    throw new CatalogError('BAD_REQUEST', 'input.from and input.to must both be assets, or both be columns', {
      field: 'input.to'
    })
  if (from === to)
    throw new CatalogError('BAD_REQUEST', 'input.from and input.to must be two entities', {
      field: 'input.to'
    })
  const startedAt = performance.now()

  const { paths, found, known, engine } = await withLineage(
    sources,
    async (reader) => {
      const [fromId, toId] = await idsOf(reader, from, to)
      // A column that nothing names has no id, and no path contains it.
      const paths =
        fromId === null || toId === null ? noPaths : await shortestPaths(reader, fromId, toId, level, bounds)
      const found = pathsFrom(paths, fromId ?? 0, count)
      return {
        paths,
        found,
        known: await referencesOf(reader, [...new Set(found.flat())]),
        engine: reader.engine
      }
    },
    { units: 3 }
  )

  const viaOf = wishes.via ? await readVia(sources.db, uniqueEdges(found)) : () => []
  return {
    hops: paths.hops,
    total: paths.total,
    paths: found.map((path) =>
      path.flatMap((id, place): PathStep[] => {
        const entity = known(id)
        const before = path[place - 1]
        return entity
          ? [{ entity, via: before === undefined ? [] : viaOf({ upstreamId: before, downstreamId: id }) }]
          : []
      })
    ),
    report: {
      complete: paths.cutBy === null,
      truncatedBy: paths.cutBy,
      hops: paths.hops ?? 0,
      visited: paths.visited,
      ms: millisecondsSince(startedAt),
      engine
    }
  }
}

async function idsOf(reader: LineageReader, from: Urn, to: Urn): Promise<[number | null, number | null]> {
  const known = await reader.find([from, to])
  const [start, end] = [known.get(from), known.get(to)]
  if (!start) throw entityNotFound(from, 'input.from')
  if (!end) throw entityNotFound(to, 'input.to')
  return [start.id, end.id]
}

/** The first paths, beginning at the start. Throws LIMIT_EXCEEDED (pathEntitiesMaxCount). */
function pathsFrom({ hops, total, nextOf }: ShortestPaths, fromId: number, count: number): number[][] {
  if (hops === null) return []
  const actual = Math.min(count, total) * (hops + 1)
  const maximum = limits.pathEntitiesMaxCount
  if (actual > maximum)
    throw new CatalogError('LIMIT_EXCEEDED', `the paths have more than ${maximum} entities; ask for fewer`, {
      field: 'input.count',
      limit: 'pathEntitiesMaxCount',
      maximum,
      actual
    })
  return firstPaths(fromId, hops, nextOf, count)
}

function uniqueEdges(paths: readonly (readonly number[])[]) {
  const edges = new Map<string, { upstreamId: number; downstreamId: number }>()
  for (const path of paths) {
    for (const [place, downstreamId] of path.entries()) {
      const upstreamId = path[place - 1]
      if (upstreamId !== undefined) edges.set(`${upstreamId} ${downstreamId}`, { upstreamId, downstreamId })
    }
  }
  return [...edges.values()]
}
