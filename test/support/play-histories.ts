/**
 * Plays many histories at a time in one database, and compares every lineage reader with the oracle between
 * steps.
 */
import { applyCall } from '../../shared/catalog/write/apply-call.ts'
import type { LineageReader } from '../../shared/catalog/lineage/lineage-reader.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import { asCall, record } from './changes.ts'
import { fc } from './fast-check.ts'
import { actOf, anyHistory, beginningOf, worldOf, type Act, type History } from './histories.ts'
import { createOracle, type Oracle } from './history-oracle.ts'
import { readerFaults, type Breadth, type Fault } from './reader-faults.ts'
import { scrollFaults, type Scroll } from './scroll-faults.ts'

/** A reader to compare with the oracle, opened again for each comparison. */
export type NamedReader = Breadth & {
  name: string
  looks: 'all' | 'last'
  open: <T>(work: (reader: LineageReader) => Promise<T>) => Promise<T>
}

/** Counts of the questions asked, to recognize a run of mostly empty graphs. */
export type Figures = { looks: number; walks: number; reached: number; pages: number; results: number }

export type Stage = {
  db: Db
  figures: Figures
  readers: readonly NamedReader[]
  scrolls: readonly { name: string; scroll: Scroll; isFor: (index: number) => boolean }[]
}

/** A history being played. */
type Play = { index: number; history: History; oracle: Oracle; acts: Act[]; done: string[] }

/** A history with a wrong answer, and the steps done by then. */
export type Wrong = {
  index: number
  history: History
  reader: string
  done: string[]
  question: string
  expected: unknown
  found: unknown
}

/** Steps between two comparisons. Several changes to a node then come in one delta, as for an idle reader. */
const stepsPerLook = 4

/** Histories played together: one call then has many changes, and one answer many histories. */
const playedAtOnce = 100

/** Concurrent scrolling clients, whose reads share barriers and whose walks share the event loop. */
const scrollsAtOnce = 8

/** Plays `count` random histories. Returns the first with a wrong answer, shrunk, or null. */
export async function tryHistories(
  stage: Stage,
  {
    count,
    seed,
    only,
    log
  }: { count: number; seed: number; only?: number | undefined; log: (line: string) => void }
): Promise<Wrong | null> {
  const histories = fc
    .sample(anyHistory, { numRuns: count, seed })
    .map((history, index) => ({ history, index, namespace: `h${index}` }))
    .filter(({ index }) => only === undefined || index === only)
  for (let begin = 0; begin < histories.length; begin += playedAtOnce) {
    const [wrong] = await playHistories(stage, histories.slice(begin, begin + playedAtOnce))
    if (wrong) {
      log(
        `history ${wrong.index} of seed ${seed} is answered wrongly by ${wrong.reader}; looking for the least of it`
      )
      let tries = 0
      return smallest(stage, wrong, () => `least${tries++}`)
    }
    if ((begin + playedAtOnce) % 1_000 === 0) log(`${begin + playedAtOnce} histories`)
  }
  return null
}

/** A wrong answer in words: how to get it, and the command to reproduce it. */
export const wordsOf = ({ index, reader, done, question, expected, found }: Wrong, seed: number): string =>
  [
    `history ${index} (npm run histories -- --seed ${seed} --only ${index}), read by ${reader}:`,
    ...done.map((text) => `  ${text}`),
    `asked: ${question}`,
    `expected: ${JSON.stringify(expected)}`,
    `found: ${JSON.stringify(found)}`
  ].join('\n')

/** Plays them together: a call has one step of each. Throws if the service refuses a step. */
export async function playHistories(
  stage: Stage,
  histories: readonly { index: number; history: History; namespace: string }[]
): Promise<Wrong[]> {
  const plays = histories.map(({ index, history, namespace }): Play => {
    const oracle = createOracle(worldOf(history, namespace))
    return { index, history, oracle, acts: beginningOf(history, oracle.world), done: [] }
  })
  const urnsOf = new Map(
    plays.flatMap(({ oracle }) =>
      [
        ...oracle.world.things.map(({ urn }) => urn),
        ...oracle.world.columns.map(({ urn }) => urn),
        ...oracle.world.domains
      ].map((urn) => [urn, oracle])
    )
  )
  let lastId = await greatestId(stage.db)
  const learnIds = async (): Promise<void> => {
    for (const { id, urn } of await query<{ id: number; urn: Urn }>(
      stage.db,
      'select id, urn from entity where id > ? order by id',
      [lastId]
    )) {
      urnsOf.get(urn)?.ids.set(urn, id)
      lastId = id
    }
  }
  while (plays.some(({ acts }) => acts.length > 0))
    await actTogether(
      stage.db,
      plays.map((play) => ({ play, act: play.acts.shift() ?? null }))
    )
  const stepCount = Math.max(...plays.map(({ history }) => history.steps.length))
  for (let at = 0; at <= stepCount; at += 1) {
    if (at % stepsPerLook === 0 || at === stepCount) {
      await learnIds()
      const wrong = await look(stage, plays, at, at === stepCount)
      if (wrong.length > 0) return wrong
    }
    await actTogether(
      stage.db,
      plays.map((play) => ({ play, act: nextAct(play, at) }))
    )
  }
  return []
}

function nextAct({ history, oracle }: Play, at: number): Act | null {
  const step = history.steps[at]
  return step ? actOf(step, oracle.world, oracle) : null
}

async function greatestId(db: Db): Promise<number> {
  const [row] = await query<{ id: number }>(db, 'select coalesce(max(id), 0) as id from entity')
  return row?.id ?? 0
}

/** One call for each source that asserts something in this turn. */
async function actTogether(db: Db, turn: readonly { play: Play; act: Act | null }[]): Promise<void> {
  const doing = turn.flatMap(({ play, act }) => (act ? [{ play, act }] : []))
  for (const source of new Set(doing.map(({ act }) => act.source))) {
    const own = doing.filter(({ act }) => act.source === source)
    await applyCall(
      db,
      own.map(({ act }, line) => record(line, ...act.changes)),
      asCall({ source, missingReferences: 'create' })
    )
    for (const { play, act } of own) {
      for (const effect of act.effects) play.oracle.take(effect)
      play.done.push(act.text)
    }
  }
}

async function look(stage: Stage, plays: readonly Play[], turn: number, isLast: boolean): Promise<Wrong[]> {
  stage.figures.looks += plays.length
  const wrong: Wrong[] = []
  const tell = (reader: string, faults: readonly Fault[]) => {
    for (const { oracle, question, expected, found } of faults) {
      const play = plays.find((each) => each.oracle === oracle)
      if (play)
        wrong.push({
          index: play.index,
          history: play.history,
          reader,
          done: [...play.done],
          question,
          expected,
          found
        })
    }
  }
  const readers = stage.readers.filter(({ looks }) => looks === 'all' || isLast)
  await Promise.all(
    readers.map(async (reader) =>
      tell(
        reader.name,
        await reader.open((opened) =>
          readerFaults(
            opened,
            plays.map(({ oracle }) => oracle),
            reader,
            turn,
            stage.figures
          )
        )
      )
    )
  )
  // Some are scrolled at every comparison, because repeated questions use held results.
  const isScrolled = ({ index }: Play): boolean => isLast || index % 10 === 0
  const scrolls = stage.scrolls.flatMap((each) =>
    plays.filter((play) => each.isFor(play.index) && isScrolled(play)).map((play) => ({ ...each, play }))
  )
  const scrollOn = async (): Promise<void> => {
    for (let next = scrolls.shift(); next; next = scrolls.shift())
      tell(next.name, await scrollFaults(next.scroll, next.play.oracle, next.play.history, stage.figures))
  }
  await Promise.all(Array.from({ length: scrollsAtOnce }, scrollOn))
  return wrong
}

/** The same fault with as few steps and as small a graph as possible. */
export async function smallest(stage: Stage, wrong: Wrong, namespaceOf: () => string): Promise<Wrong> {
  let least = wrong
  const tryOut = async (history: History): Promise<boolean> => {
    const [found] = await playHistories(stage, [{ index: wrong.index, history, namespace: namespaceOf() }])
    if (found) least = found
    return found !== undefined
  }
  if (!(await tryOut(wrong.history))) return wrong
  for (const shorter of [
    { shape: 'none' },
    { columnShape: 'none' },
    { filters: [] },
    { columns: [] },
    { domains: [] }
  ])
    await tryOut({ ...least.history, ...shorter })
  for (let at = least.history.steps.length - 1; at >= 0; at -= 1)
    await tryOut({ ...least.history, steps: least.history.steps.toSpliced(at, 1) })
  return least
}
