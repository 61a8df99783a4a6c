/** The order of acceptance decides: chunks applied in any order leave what applying them in order leaves. */
import t, { type Test } from 'tap'
import { applyCall } from '../shared/catalog/apply-call.ts'
import { applyRecords } from '../shared/catalog/apply-records.ts'
import { readAspects } from '../shared/catalog/read-aspects.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { isDestructive } from '../shared/model/change-facts.ts'
import type { ChangeRecord, JsonValue, MissingReferences } from '../shared/model/changes.ts'
import { lineageAspects } from '../shared/model/lineage-fields.ts'
import { splitLineageDocument } from '../shared/model/lineage-document.ts'
import { orderHorizon, pruneOrder } from '../shared/store/housekeeping.ts'
import { apply, asCall, chunkContext, create, createDomain, openLoad, record, type OpenLoad } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { fc, seed } from './support/fast-check.ts'
import { graphOfLog, graphOfTables } from './support/graph-log.ts'
import { anyStep, anyStepOrDeletion, domains, worldOf, type EdgeStep, type Step, type World } from './support/random-records.ts'

type Plan = { loads: Step[][][], calls: Step[][], shuffle: number[], sizes: number[], turns: number[] }

const numbers = (max: number) => fc.array(fc.nat({ max }), { minLength: 32, maxLength: 32 })

/** Loads of records of one or two changes, the calls that come meanwhile, how loads are cut into chunks, and who is next. */
function planOf(step: fc.Arbitrary<Step>): fc.Arbitrary<Plan> {
  const steps = fc.array(step, { minLength: 1, maxLength: 2 })
  return fc.record({
    loads: fc.array(fc.array(steps, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 4 }), calls: fc.array(steps, { maxLength: 2 }), shuffle: numbers(1000), sizes: numbers(2), turns: numbers(1000)
  })
}

const recordsOf = (load: Step[][], world: World): ChangeRecord[] => load.map((steps, line) => record(line + 1, ...steps.flatMap((step) => step.changes(world))))

type Chunk = { load: OpenLoad, records: ChangeRecord[] }

/** Chunks of random records of a load: passes do not keep lines together either. */
function inChunks(load: OpenLoad, all: readonly ChangeRecord[], { shuffle, sizes }: Plan): Chunk[] {
  const left = all.map((each, index) => ({ each, key: shuffle[(index * 7 + load.seq) % shuffle.length] ?? 0 })).sort((a, b) => a.key - b.key || a.each.line - b.each.line).map(({ each }) => each)
  const chunks: Chunk[] = []
  while (left.length > 0) chunks.push({ load, records: left.splice(0, 1 + (sizes[chunks.length % sizes.length] ?? 0)).sort((a, b) => a.line - b.line) })
  return chunks
}

async function applyChunk(db: Db, { load, records: part }: Chunk, missingReferences: MissingReferences): Promise<void> {
  const verdicts = await inTransaction(db, async (tx) => {
    const judged = await applyRecords(tx, part, chunkContext(load, { missingReferences }))
    await query(tx, "update load set remaining = remaining - 1, state = case when remaining = 1 then 'done' else state end where id = ?::uuid", [load.id])
    return judged
  })
  const refused = verdicts.find((verdict) => verdict.outcome === 'rejected')
  if (refused) throw new Error(`refused: ${JSON.stringify(refused)}`)
}

/** What the sweeper does with order that nothing needs any more. */
async function prune(db: Db): Promise<void> {
  const horizon = await orderHorizon(db)
  if (horizon !== null) await inTransaction(db, (tx) => pruneOrder(tx, horizon, 1000))
}

/** What a reader can see, and what is stated, with the name of the world left out. */
async function stateOf(db: Db, world: World, name: string, step: fc.Arbitrary<Step>): Promise<JsonValue> {
  const statements = await query<{ row: string }>(db, `
    select concat_ws(' ', owner.urn, field, downstream.urn, upstream.urn, statement_source.name, record_key, least(position, 1073741824)) as row
    from statement
    join entity as owner on owner.id = owner_id
    join entity as downstream on downstream.id = downstream_id
    join entity as upstream on upstream.id = upstream_id
    join statement_source on statement_source.id = source_id
    where owner.urn = any(?::text[])`, [world.assets])
  const presence = await query<{ row: string }>(db, "select concat_ws(' ', urn, is_present, is_removed) as row from entity where urn = any(?::text[])", [world.assets])
  const aspects = await readAspects(db, world.assets, null)
  const values = [...aspects].flatMap(([urn, views]) => [...views.values()].map((view) => `${urn} ${view.name} ${JSON.stringify(sorted(view.value))}`))
  // Whether what is empty was ever stated is forgotten where deletions come late; everywhere else it must be the same.
  const isEmpty = (text: string) => text.endsWith(' upstreamLineage {"upstreams":[]}') || (step === anyStepOrDeletion && text.endsWith(' domains {"domains":[]}'))
  return { statements: tidy(statements), presence: tidy(presence), aspects: tidy(values.filter((text) => !isEmpty(text)).map((row) => ({ row }))) }

  function tidy(rows: { row: string }[]): string[] {
    return rows.map(({ row }) => row.replaceAll(name, '')).sort()
  }
}

/** The order of what was appended to a list is when it was stated last, which is not compared. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted).sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, inner]) => [key, sorted(inner)]))
}

/** The edges that live after the steps in order, by the plainest means: a list of what is stated. */
function oracle(loads: readonly { load: Step[][], source: string }[], world: World): string[] {
  let stated: { owner: string, list: string, edge: string, source: string, group: string }[] = []
  const take = (step: EdgeStep, source: string) => {
    if (step.kind === 'add') stated.push({ owner: step.owner, list: step.list, edge: step.edge, source: 'source' in step ? String(step.source) : source, group: step.group ?? 'NONE' })
    else if (step.kind === 'remove') stated = stated.filter((row) => !(row.owner === step.owner && row.list.startsWith(`${step.aspect}.`) && row.edge === step.edge
      && (!step.list || row.list === step.list) && (!step.group || row.group === step.group)))
    else {
      stated = stated.filter((row) => !(row.owner === step.owner && row.list.startsWith(`${step.aspect}.`) && (!step.list || row.list === step.list)
        && (!step.downstream || row.edge.startsWith(`${step.downstream} `)) && (!step.source || row.source === step.source)))
    }
  }
  for (const { load, source } of loads) for (const step of load.flat()) for (const each of step.edges(world)) take(each, source)
  return [...new Set(stated.map((row) => `${row.list.split('.')[0]} ${row.edge}`))].sort()
}

async function liveEdges(db: Db, world: World): Promise<string[]> {
  const rows = await query<{ field: number, edge: string }>(db, `
    select distinct field, concat_ws(' ', downstream.urn, upstream.urn) as edge
    from statement
    join entity as owner on owner.id = owner_id
    join entity as downstream on downstream.id = downstream_id
    join entity as upstream on upstream.id = upstream_id
    where owner.urn = any(?::text[])`, [world.assets])
  const aspects: { [code: number]: string } = { 1: 'upstreamLineage', 2: 'dataJobInputOutput', 3: 'chartInfo' }
  return [...new Set(rows.map((row) => `${aspects[row.field >> 4]} ${row.edge}`))].sort()
}

/** The edges that the aspects show when they are read. */
async function shownEdges(db: Db, world: World): Promise<string[]> {
  const aspects = await readAspects(db, world.assets, lineageAspects)
  const edges = [...aspects].flatMap(([urn, views]) => [...views.values()].flatMap((view) =>
    splitLineageDocument(urn, view.name, view.value).entries.map((entry) => `${view.name} ${entry.downstreamUrn} ${entry.upstreamUrn}`)))
  return [...new Set(edges)].sort()
}


type Trial = { step: fc.Arbitrary<Step>, missingReferences: MissingReferences, hasOracle: boolean, isParallel: boolean, runs: number }

/** Plays plans in order and mixed, and compares what is left; throws with both where they differ. */
async function tryOut(t: Test, { step, missingReferences, hasOracle, isParallel, runs }: Trial): Promise<void> {
  const numRuns = Number(process.env.RUNS ?? runs)
  const { db } = await withDatabase(t)
  await apply(db, ...domains.map((urn, index) => createDomain(urn, `D${index}`)))
  t.comment(`seed ${seed}, ${numRuns} runs`)
  const call = (steps: readonly Step[], world: World) => applyCall(db, [record(0, ...steps.flatMap((each) => each.changes(world)))], asCall({ missingReferences }))
  let run = 0
  await fc.assert(fc.asyncProperty(planOf(step), async (planned) => {
    const { loads, calls, turns } = planned
    run += 1
    const [name, otherName] = [`run${run}.ordered`, `run${run}.mixed`]
    const [ordered, mixed] = [worldOf(name), worldOf(otherName)]
    await apply(db, ...create(...ordered.assets, ...mixed.assets))

    // In order, and with nothing older left at any time.
    const sources = loads.map((_, index) => `s${index % 2}`)
    for (const [index, load] of loads.entries()) await applyChunk(db, { load: await openLoad(db, { source: sources[index] ?? '', remaining: 1, missingReferences }), records: recordsOf(load, ordered) }, missingReferences)
    for (const steps of calls) await call(steps, ordered)

    const waiting: Chunk[] = []
    for (const [index, load] of loads.entries()) {
      const all = recordsOf(load, mixed)
      const open = await openLoad(db, { source: sources[index] ?? '', missingReferences, isDestructive: isDestructive(all.flatMap((each) => each.changes)) })
      const chunks = inChunks(open, all, planned)
      await query(db, 'update load set remaining = ?::int where id = ?::uuid', [chunks.length, open.id])
      waiting.push(...chunks)
    }
    const called = [...calls]
    let turn = 0
    const worker = async (): Promise<void> => {
      while (waiting.length > 0 || called.length > 0) {
        const drawn = turns[turn++ % turns.length] ?? 0
        const [chunk] = waiting.splice(drawn % (waiting.length + (isParallel ? 0 : called.length)), 1)
        if (chunk) await applyChunk(db, chunk, missingReferences)
        else if (!isParallel) await call(called.shift() ?? [], mixed)
        else break
        if (drawn % 5 === 0) await prune(db)
      }
    }
    // Calls come one after the other: each is accepted when the one before it has been answered.
    const caller = async (): Promise<void> => { while (called.length > 0) await call(called.shift() ?? [], mixed) }
    await (isParallel ? Promise.all([caller(), worker(), worker(), worker()]) : worker())

    if (hasOracle) {
      const steps = [...loads.map((load, index) => ({ load, source: sources[index] ?? '' })), ...calls.map((each) => ({ load: [each], source: 'manual' }))]
      compare('the edges of the oracle', oracle(steps, ordered), 'applied in order', await liveEdges(db, ordered))
    }
    compare('the edges of the documents', await shownEdges(db, mixed), 'stated', await liveEdges(db, mixed))
    compare('in order', await stateOf(db, ordered, name, step), 'mixed', await stateOf(db, mixed, otherName, step))
  }), { numRuns, seed })
  compare('the graph of the change log', await graphOfLog(db), 'of the tables', await graphOfTables(db))
}

t.test('P5: records applied in any interleaving of chunks end as applied in order', { timeout: process.env.RUNS ? 0 : 600_000 }, (t) =>
  tryOut(t, { step: anyStep, missingReferences: 'reject', hasOracle: true, isParallel: false, runs: 300 }))

t.test('P5: so do records among which entities are deleted and created anew', { timeout: process.env.RUNS ? 0 : 600_000 }, (t) =>
  tryOut(t, { step: anyStepOrDeletion, missingReferences: 'create', hasOracle: false, isParallel: false, runs: 60 }))

t.test('P5: so do chunks that three workers apply at once, while calls are made', { timeout: process.env.RUNS ? 0 : 600_000 }, (t) =>
  tryOut(t, { step: anyStepOrDeletion, missingReferences: 'create', hasOracle: false, isParallel: true, runs: 60 }))

/** Throws with the lines of which only one of the two has them. */
function compare(expectedName: string, expected: JsonValue, foundName: string, found: JsonValue): void {
  const [one = [], other = []] = [expected, found].map((value) => JSON.stringify(value, null, 1).split('\n'))
  if (one.join('\n') === other.join('\n')) return
  const only = (lines: string[], others: string[]): string => lines.filter((line) => !others.includes(line)).join('\n')
  throw new Error(`only ${expectedName}:\n${only(one, other)}\nonly ${foundName}:\n${only(other, one)}`)
}
