/**
 * Exports lineage: the whole answer to a question, without pages, from one snapshot.
 *
 * The walk and the filters run first, so total and completeness are known before the first row. Rows are then
 * read a slice at a time, as fast as the client takes them. Memory contains the ids that the walk reached (6
 * bytes each) and one slice.
 */
import { limits } from '../../limits.ts'
import type { LineageDirection } from '../../model/walk.ts'
import { idSet } from '../../store/id-set.ts'
import type { Urn } from '../../urn/urn.ts'
import { withAssetsOfColumns } from './column-assets.ts'
import { checkExport, type ExportInput, type ExportQuestion } from './export-question.ts'
import { edgeRows, entityRows, rowWithoutId, type ExportEdge, type ExportEntity } from './export-rows.ts'
import { hopsWanted } from './lineage-filters.ts'
import { everyEntity } from './lineage-hits.ts'
import type { LineageReader } from './lineage-reader.ts'
import { reportOf, type LineageReport } from './lineage-report.ts'
import { entityNotFound } from './read-entity.ts'
import { filterHits } from './filter-hits.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

export type LineageExport = {
  startUrn: Urn
  direction: LineageDirection
  report: LineageReport
  /** The number of entities in `entities`. */
  total: number
  /** Where the walk began, with degree 0: the start, or its columns. */
  starts: () => AsyncGenerator<ExportEntity[]>
  /** The entities that were reached and kept, nearest first. */
  entities: () => AsyncGenerator<ExportEntity[]>
  /** The edges among all of them. */
  edges: () => AsyncGenerator<ExportEdge[]>
}

/**
 * Passes the export to `use`, and keeps the snapshot open until `use` resolves. Throws what checkExport and
 * `use` throw, NOT_FOUND for a start that does not exist, DEADLINE_EXCEEDED after walkDeadlineMs.
 */
export async function exportLineage(
  sources: LineageSources,
  input: ExportInput,
  use: (found: LineageExport) => Promise<void>
): Promise<void> {
  const startedAt = performance.now()
  const question = checkExport(input)
  await withLineage(sources, async (reader) => use(await findLineage(reader, question, startedAt)), {
    window: question.window
  })
}

async function findLineage(
  reader: LineageReader,
  question: ExportQuestion,
  startedAt: number
): Promise<LineageExport> {
  const { startUrn, direction, level } = question
  const start = (await reader.find([startUrn])).get(startUrn)
  if (!start) throw entityNotFound(startUrn, 'urn')
  const startIds =
    start.id === null
      ? []
      : question.beginsAtColumns
        ? (await reader.columns([start.id]))(start.id)
        : [start.id]
  const wanted = Math.min(question.hops, hopsWanted(question.filters))
  const walk = await reader.walk({
    startIds,
    direction,
    level,
    hopsWanted: wanted,
    bounds: { maxHops: limits.walkMaxHops, maxEntities: limits.walkMaxEntities }
  })
  const hits =
    level === 'column' && question.withAssets
      ? await withAssetsOfColumns(reader, { direction, startIds, walk }, everyEntity(walk), wanted)
      : walk
  const { total, kept } = await filterHits(reader, question, hits)
  const ids = kept === null ? hits.ids : kept.map((place) => hits.ids[place] ?? 0)
  const degrees = kept === null ? hits.degrees : Uint16Array.from(kept, (place) => hits.degrees[place] ?? 0)
  const isBare = start.id === null && !question.beginsAtColumns
  return {
    startUrn,
    direction,
    total,
    report: reportOf(walk, reader.engine, startedAt, question.window),
    starts: isBare
      ? () => oneSlice(rowWithoutId(startUrn, start.exists))
      : () => entityRows(reader, Int32Array.from(startIds), () => 0),
    entities: () => entityRows(reader, ids, (index) => degrees[index] ?? 0),
    edges: () => edgesAmong(reader, question, startIds, ids, degrees)
  }
}

async function* oneSlice(row: ExportEntity): AsyncGenerator<ExportEntity[]> {
  yield [row]
}

async function* edgesAmong(
  reader: LineageReader,
  { direction, level }: ExportQuestion,
  startIds: readonly number[],
  ids: Int32Array,
  degrees: Uint16Array
): AsyncGenerator<ExportEdge[]> {
  const among = idSet()
  for (const id of startIds) among.add(id)
  for (const id of ids) among.add(id)
  yield* edgeRows(reader, {
    direction,
    level,
    nearIds: Int32Array.from(startIds),
    degreeAt: () => 0,
    has: among.has
  })
  yield* edgeRows(reader, {
    direction,
    level,
    nearIds: ids,
    degreeAt: (index) => degrees[index] ?? 0,
    has: among.has
  })
}
