/**
 * Plays histories of loads, many in one load, undoes the loads newest first, and compares each state with the
 * one before the load. A dry run of each undo must change nothing and count what the undo counts.
 */
import { claimChunk } from '../../shared/catalog/loads/claim-chunk.ts'
import { splitChunk } from '../../shared/catalog/loads/split-chunk.ts'
import { undoLoad } from '../../shared/catalog/loads/undo-load.ts'
import type { JsonValue } from '../../shared/model/changes.ts'
import { contentOf } from './catalog-content.ts'
import { apply, create, createDomain } from './changes.ts'
import { fc } from './fast-check.ts'
import { admin, guardsWithout, rejectsOf, type LoadBench } from './load-bench.ts'
import { graphOfLog, graphOfTables } from './graph-log.ts'
import { worldOf } from './order-world.ts'
import { difference } from './play-orders.ts'
import { anyStyle, historyOf, type History, type LoadStyle } from './random-loads.ts'
import { domains } from './random-records.ts'

const playedAtOnce = 50

/** Counts of what was undone: an undo that finds nothing to do proves nothing. */
export type Figures = { histories: number; loads: number; undone: number; rejects: number }

type Wrong = { history: History; index: number; words: string }

/** Plays `count` histories in an empty catalog. Throws for the first that is not undone correctly, shrunk. */
export async function tryUndos(
  bench: LoadBench,
  { count, seed, log }: { count: number; seed: number; log: (line: string) => void }
): Promise<Figures> {
  await apply(bench.db, ...domains.map((urn, index) => createDomain(urn, `D${index}`)))
  const figures: Figures = { histories: 0, loads: 0, undone: 0, rejects: 0 }
  for (let batch = 0; figures.histories < count; batch += 1) {
    const [styles = []] = fc.sample(fc.array(anyStyle, { minLength: 2, maxLength: 4 }), {
      seed: seed + batch,
      numRuns: 1
    })
    const histories = fc.sample(historyOf(styles), {
      seed: seed + batch,
      numRuns: Math.min(playedAtOnce, count - figures.histories)
    })
    const wrong = await playUndos(bench, styles, histories, figures)
    if (wrong) {
      log(
        `history ${wrong.index} of batch ${batch} of seed ${seed} is not taken back; looking for the least of it`
      )
      throw new Error(
        `seed ${seed}, batch ${batch}, history ${wrong.index}\n${(await smallest(bench, styles, wrong)).words}`
      )
    }
    figures.histories += histories.length
  }
  const fault = difference(
    'the graph of the change log',
    await graphOfLog(bench.db),
    'of the tables',
    await graphOfTables(bench.db)
  )
  if (fault) throw fault
  return figures
}

/** The same fault with as few loads and lines as possible. */
async function smallest(bench: LoadBench, styles: readonly LoadStyle[], wrong: Wrong): Promise<Wrong> {
  let least = wrong
  const tryOut = async (loads: History['loads']): Promise<boolean> => {
    const found = await playUndos(bench, styles, [{ loads }])
    if (found) least = found
    return found !== null
  }
  if (!(await tryOut(wrong.history.loads))) return { ...wrong, words: `(only among others) ${wrong.words}` }
  for (let at = styles.length - 1; at >= 0; at -= 1) await tryOut(least.history.loads.with(at, []))
  for (let at = styles.length - 1; at >= 0; at -= 1) {
    for (let line = (least.history.loads[at]?.length ?? 0) - 1; line >= 0; line -= 1)
      await tryOut(least.history.loads.with(at, least.history.loads[at]?.toSpliced(line, 1) ?? []))
  }
  return least
}

let played = 0

async function playUndos(
  bench: LoadBench,
  styles: readonly LoadStyle[],
  histories: readonly History[],
  figures?: Figures
): Promise<Wrong | null> {
  const first = played
  played += histories.length
  const worlds = histories.map((_, index) => worldOf(`h${first + index}`))
  const [newest] = await bench.rows<{ id: number }>('select coalesce(max(id), 0) as id from entity')
  await apply(bench.db, ...create(...worlds.flatMap(({ assets }) => assets)))
  const content = () => contentOf(bench.db, newest?.id ?? 0)
  const states: Map<string, string[]>[] = []
  const sent: { id: string; lines: JsonValue[] }[] = []
  for (const [at, style] of styles.entries()) {
    states.push(await content())
    const lines =
      style.lines === 'again'
        ? (sent.at(-1)?.lines ?? [])
        : byTurns(
            histories.map(({ loads }, index) =>
              (loads[at] ?? []).flatMap((line) => (worlds[index] ? line(worlds[index]) : []))
            )
          )
    if (lines.length === 0) {
      states.pop()
      continue
    }
    const id = await bench.submit(lines, {
      source: style.lines === 'again' ? (styles[at - 1]?.source ?? style.source) : style.source,
      missingReferences: style.missing
    })
    if (style.chunks > 1) await cut(bench, id, Math.ceil(lines.length / style.chunks))
    await bench.drain()
    sent.push({ id, lines })
  }
  for (const { id } of sent.toReversed()) {
    const { counts } = await bench.load(id)
    const beforeUndo = await content()
    const undoAs = async (isDryRun: boolean) => {
      const context = { actor: admin, requestId: null, isDryRun }
      const { id: undoId } = await undoLoad(bench.db, bench.queue, id, context)
      await bench.drain()
      return bench.load(undoId)
    }
    const tried = await undoAs(true)
    const changed = firstFault(beforeUndo, await content())
    const undo = await undoAs(false)
    if (figures) {
      figures.loads += 1
      figures.undone += undo.counts.applied
      figures.rejects += counts.rejected
    }
    const differs = JSON.stringify(tried.counts) !== JSON.stringify(undo.counts)
    const fault = firstFault(states.pop() ?? new Map(), await content()) ?? changed
    if (fault || differs || undo.counts.rejected > 0 || undo.state !== 'done') {
      const index = fault ? Number(fault.name.slice(1)) - first : 0
      const own = sent.map(
        (load) =>
          `load${load.id === id ? ' (this undo is wrong)' : ''}:\n${load.lines
            .map((line) => `  ${JSON.stringify(line)}`)
            .filter((text) => !fault || new RegExp(`\\b${fault.name}\\b`).test(text))
            .join('\n')}`
      )
      const rejects =
        undo.counts.rejected > 0
          ? (await rejectsOf(bench, undo.id)).map(({ code, message }) => `${code} ${message}`).join('\n')
          : ''
      return {
        history: histories[index] ?? { loads: [] },
        index,
        words: `${JSON.stringify(styles)}\n${own.join('\n')}\n${JSON.stringify(undo.counts)}, tried: ${JSON.stringify(tried.counts)}\n${rejects}\n${fault?.words ?? ''}`
      }
    }
  }
  return null
}

/** The first item of each list, then the second of each, so that every chunk has lines of all. */
const byTurns = (lists: readonly JsonValue[][]): JsonValue[] =>
  Array.from({ length: Math.max(0, ...lists.map(({ length }) => length)) }, (_, turn) =>
    lists.flatMap((list) => list.slice(turn, turn + 1))
  ).flat()

function firstFault(
  before: Map<string, string[]>,
  after: Map<string, string[]>
): { name: string; words: string } | null {
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(name) ?? [], after.get(name) ?? []]
    const [missing, more] = [
      was.filter((text) => !is.includes(text)),
      is.filter((text) => !was.includes(text))
    ]
    if (missing.length + more.length > 0)
      return { name, words: `was there:\n  ${missing.join('\n  ')}\nis there:\n  ${more.join('\n  ')}` }
  }
  return null
}

/** Splits the chunks of a load, as if they kept failing, until each has at most `count` records. */
export async function cut(bench: LoadBench, id: string, most: number): Promise<void> {
  for (;;) {
    const [large] = (await bench.chunks(id)).filter(
      (chunk) => chunk.state === 'waiting' && chunk.recordCount > most
    )
    if (!large) return
    const claim = await claimChunk(bench.db, large.id, guardsWithout('passOrder'))
    if (!claim) throw new Error('a waiting chunk could not be claimed')
    bench.told.push(
      ...(await splitChunk(bench.db, claim.chunk, guardsWithout(), 'failed')).map((nudge) => nudge.chunkId)
    )
  }
}
