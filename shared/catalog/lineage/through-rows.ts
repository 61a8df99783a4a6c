/**
 * Leads lineage through the rows of tables: what leads to the rows leads to each column behind them, without a
 * hop of its own, and the rows are never returned. See decision 23.
 */
import type { LineageDirection, Walk, WalkQuestion } from '../../model/walk.ts'
import { idSet } from '../../store/id-set.ts'
import { walkByHops } from '../../store/lineage-walk.ts'
import type { LineageReader } from './lineage-reader.ts'

const idsPerSlice = 5_000

/** Wraps the reader. Where no rows are met, its answers are those of the reader. */
export function throughRows(reader: LineageReader): LineageReader {
  const nearOf = (ids: readonly number[] | Int32Array, direction: LineageDirection) =>
    nearColumns(reader, ids, direction)
  return {
    ...reader,
    async neighbours(ids, direction, level) {
      if (level === 'asset') return reader.neighbours(ids, direction, level)
      const { direct, behind } = await nearOf(ids, direction)
      return (id) => joined(direct(id), behind(id), id)
    },
    async indirect(ids, direction) {
      const { direct, behind } = await nearOf(ids, direction)
      return (id) => {
        const own = new Set(direct(id))
        return behind(id).filter((far) => far !== id && !own.has(far))
      }
    },
    async walk(question) {
      const walk = await reader.walk(question)
      if (question.level === 'asset' || (await reader.rowsAmong(walk.ids)).size === 0) return walk
      return walkThroughRows(reader, question)
    },
    async columns(assetIds) {
      const columnsOf = await reader.columns(assetIds)
      const all = new Array<number>()
      for (const id of assetIds) for (const column of columnsOf(id)) all.push(column)
      const rows = await reader.rowsAmong(all)
      return rows.size === 0 ? columnsOf : (id) => columnsOf(id).filter((column) => !rows.has(column))
    }
  }
}

type Near = (id: number) => readonly number[]

/** The neighbours that are columns, and the columns behind the neighbours that are rows. */
async function nearColumns(
  reader: LineageReader,
  ids: readonly number[] | Int32Array,
  direction: LineageDirection
): Promise<{ direct: Near; behind: Near }> {
  const near = await reader.neighbours(ids, direction, 'column')
  const all = idSet()
  const met = new Array<number>()
  for (const id of ids) for (const far of near(id)) if (all.add(far)) met.push(far)
  const rows = await reader.rowsAmong(met)
  if (rows.size === 0) return { direct: near, behind: () => [] }
  const behindRows = await reader.neighbours([...rows], direction, 'column')
  return {
    direct: (id) => near(id).filter((far) => !rows.has(far)),
    behind: (id) => near(id).flatMap((far) => (rows.has(far) ? behindRows(far) : []))
  }
}

const joined = (some: readonly number[], more: readonly number[], id: number): readonly number[] =>
  more.length === 0
    ? some
    : [...new Set([...some, ...more])].filter((far) => far !== id).sort((a, b) => a - b)

/** `indirectIds` of the walk are the columns that no path without rows leads to. */
async function walkThroughRows(reader: LineageReader, question: WalkQuestion): Promise<Walk> {
  const byColumns = (isDirect: boolean): Promise<Walk> =>
    walkByHops(question, async (frontier, isReached) => {
      const found = idSet()
      const next: number[] = []
      for (let begin = 0; begin < frontier.length; begin += idsPerSlice) {
        const slice = frontier.subarray(begin, begin + idsPerSlice)
        const { direct, behind } = await nearColumns(reader, slice, question.direction)
        for (const id of slice) {
          for (const far of direct(id)) if (!isReached(far) && found.add(far)) next.push(far)
          if (!isDirect) for (const far of behind(id)) if (!isReached(far) && found.add(far)) next.push(far)
        }
        await reader.pause()
      }
      return Int32Array.from(next).sort()
    })
  const [walk, direct] = [await byColumns(false), await byColumns(true)]
  const isDirect = idSet()
  for (const id of direct.ids) isDirect.add(id)
  const indirectIds = new Set(walk.ids.filter((id) => !isDirect.has(id)))
  return indirectIds.size === 0 ? walk : { ...walk, indirectIds }
}
