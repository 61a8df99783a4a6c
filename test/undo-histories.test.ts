/**
 * Random histories: what there is, a load in chunks of one to three records, what comes after it, and the undo. Held against
 * an oracle that knows nothing of journals: what was not changed after the load is as it was before it, the rest as it was.
 */
import t from 'tap'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { allGuards } from '../shared/catalog/write/guards.ts'
import type { RunOptions } from '../shared/catalog/loads/run-chunk.ts'
import { undoLoad } from '../shared/catalog/loads/undo-load.ts'
import type { JsonValue } from '../shared/model/changes.ts'
import { query } from '../shared/db/query.ts'
import { fc, fixedSeed, casesOf, seed } from './support/fast-check.ts'
import { admin, withLoadBench, type LoadBench } from './support/load-bench.ts'
import { cut, tryUndos } from './support/play-undo.ts'

const assets = ['a', 'b', 'c', 'd']
const domains = ['one', 'two']
const sources = ['north', 'south']

/** One line of a load; the names are those of one history, so that many can be played in one database. */
type Line = (name: (text: string) => string) => JsonValue
const urn = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`

const anyAsset = fc.constantFrom(...assets)
const anyPair = fc.tuple(anyAsset, anyAsset).filter(([up, down]) => up !== down)
const anyLine: fc.Arbitrary<Line> = fc.oneof(
  {
    weight: 4,
    arbitrary: anyPair.map(([up, down]): Line => (name) => ({
      upstreamUrn: urn(name(up)),
      downstreamUrn: urn(name(down))
    }))
  },
  {
    weight: 3,
    arbitrary: anyPair.map(([up, down]): Line => (name) => ({
      op: 'removeEdge',
      upstreamUrn: urn(name(up)),
      downstreamUrn: urn(name(down))
    }))
  },
  {
    weight: 2,
    arbitrary: fc.tuple(anyAsset, fc.constantFrom(...domains)).map(([asset, domain]): Line => (name) => ({
      op: 'setDomain',
      entityUrn: urn(name(asset)),
      domainUrn: `urn:li:domain:${name(domain)}`
    }))
  },
  {
    weight: 1,
    arbitrary: anyAsset.map((asset): Line => (name) => ({ op: 'unsetDomain', entityUrn: urn(name(asset)) }))
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(anyAsset, fc.constantFrom('x', 'y', 'z'))
      .map(([asset, description]): Line => (name) => ({
        op: 'upsertEntity',
        urn: urn(name(asset)),
        description
      }))
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(anyPair, fc.constantFrom('COPY', 'VIEW'))
      .map(([[up, down], type]): Line => (name) => ({
        entityType: 'dataset',
        entityUrn: urn(name(down)),
        changeType: 'UPSERT',
        aspectName: 'upstreamLineage',
        aspect: { upstreams: [{ dataset: urn(name(up)), type }] }
      }))
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(anyPair, fc.constantFrom('COPY', 'VIEW'))
      .map(([[up, down], type]): Line => (name) => ({
        entityType: 'dataset',
        entityUrn: urn(name(down)),
        changeType: 'PATCH',
        aspectName: 'upstreamLineage',
        aspect: {
          patch: [{ op: 'add', path: `/upstreams/${urn(name(up))}`, value: { dataset: urn(name(up)), type } }]
        }
      }))
  }
)
const anyLoad = fc.record({
  source: fc.constantFrom(...sources),
  lines: fc.array(anyLine, { minLength: 1, maxLength: 8 })
})
const anyHistory = fc.record({
  before: fc.array(anyLoad, { maxLength: 3 }),
  load: anyLoad,
  after: fc.array(anyLoad, { maxLength: 2 })
})

/** What there is, piece by piece: each statement, domain and description, and the order it has. */
type Pieces = Map<string, { text: string; seq: number }>
const textOf = (pieces: Pieces, key: string): string | undefined => pieces.get(key)?.text

async function piecesOf(bench: LoadBench, prefix: string): Promise<Pieces> {
  const rows = await query<{ key: string; text: string; seq: number }>(
    bench.db,
    `
    select concat_ws(' ', 'edge', upstream.urn, downstream.urn, field, statement_source.name, record_key) as key, coalesce(attributes::text, 'bare') as text, statement.seq
    from statement
    join entity upstream on upstream.id = upstream_id
    join entity downstream on downstream.id = downstream_id
    join statement_source on statement_source.id = source_id
    where upstream.urn like ?
    union all
    select concat_ws(' ', 'domain', entity.urn), domain.urn || coalesce(attributes::text, ''), domain_association.seq
    from domain_association
    join entity on entity.id = entity_id
    join entity domain on domain.id = domain_id
    where entity.urn like ?
    union all
    select concat_ws(' ', 'aspect', entity.urn, aspect_name), value::text, aspect.seq
    from aspect
    join entity on entity.id = entity_id
    where entity.urn like ? and value is not null and aspect_name <> 'upstreamLineage'`,
    Array(3).fill(`%${prefix}.%`)
  )
  return new Map(rows.map(({ key, ...piece }) => [key, piece]))
}

/** The pieces that a later load has changed, or stated anew: what says the same under a newer order was taken away and is there again. */
function touchedAfter(left: Pieces, after: readonly Pieces[]): Set<string> {
  const keys = new Set([...left.keys(), ...after.flatMap((each) => [...each.keys()])])
  return new Set(
    [...keys].filter((key) =>
      after.some(
        (state) => textOf(state, key) !== textOf(left, key) || state.get(key)?.seq !== left.get(key)?.seq
      )
    )
  )
}

type Figures = { restored: number; kept: number }

/** Plays random histories; throws for one that comes out otherwise than the oracle says. */
async function play(bench: LoadBench, runs: number, options: Partial<RunOptions> = {}): Promise<Figures> {
  const figures: Figures = { restored: 0, kept: 0 }
  let count = 0
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.integer({ min: 1, max: 3 }),
      async ({ before, load, after }, chunkRecords) => {
        count += 1
        const prefix = `h${count}`
        const name = (text: string): string => `${prefix}.${text}`
        const send = async (
          lines: readonly JsonValue[],
          source: string,
          most = Infinity
        ): Promise<string> => {
          const id = await bench.submit(lines, { source })
          await cut(bench, id, most)
          await bench.drain()
          return id
        }
        await send(
          [
            ...assets.map((asset) => ({ op: 'upsertEntity', urn: urn(name(asset)) })),
            ...domains.map((id) => ({ op: 'createDomain', id: name(id), name: name(id) }))
          ],
          'base'
        )
        for (const { source, lines } of before)
          await send(
            lines.map((line) => line(name)),
            source
          )
        const first = await piecesOf(bench, prefix)
        const id = await send(
          load.lines.map((line) => line(name)),
          load.source,
          chunkRecords
        )
        const left = await piecesOf(bench, prefix)
        const states: Pieces[] = []
        for (const { source, lines } of after) {
          await send(
            lines.map((line) => line(name)),
            source
          )
          states.push(await piecesOf(bench, prefix))
        }
        const { id: undoId } = await undoLoad(bench.db, bench.queue, id, { actor: admin, requestId: null })
        await bench.drain(options)
        const undo = await bench.load(undoId)
        const now = await piecesOf(bench, prefix)
        const last = states.at(-1) ?? left
        const touched = touchedAfter(left, states)
        if (undo.counts.rejected > 0 || undo.counts.received !== undo.counts.applied + undo.counts.unchanged)
          throw new Error(`counts ${JSON.stringify(undo.counts)}`)
        for (const key of new Set([...first.keys(), ...left.keys(), ...last.keys(), ...now.keys()])) {
          const [before, found] = [textOf(first, key), textOf(now, key)]
          // What was changed since and is again as the load left it may be either: only a statement that is there can tell.
          const isRight = !touched.has(key)
            ? found === before
            : found === textOf(last, key) || (textOf(last, key) === textOf(left, key) && found === before)
          if (!isRight)
            throw new Error(
              `${key}: found ${found}, before ${before}, left ${textOf(left, key)}, then ${states.map((state) => textOf(state, key)).join(' | ')}`
            )
          if (touched.has(key)) figures.kept += 1
          else if (before !== textOf(left, key)) figures.restored += 1
        }
      }
    ),
    { numRuns: runs, seed: fixedSeed, endOnFailure: true }
  )
  return figures
}

t.test('an undo restores what was not changed since, and nothing else', async (t) => {
  const figures = await play(await withLoadBench(t), 50)
  t.ok(figures.restored > 40, `${figures.restored} restored`)
  t.ok(figures.kept > 20, `${figures.kept} kept`)
})

t.test('without the guard that looks for newer changes it does not', async (t) => {
  const unguarded: RunOptions['apply'] = (tx, records, context) =>
    applyRecords(tx, records, { ...context, guards: { ...allGuards, undoesOnlyItsOwn: false } })
  await t.rejects(play(await withLoadBench(t), 50, { apply: unguarded }))
})

t.test('undoing loads newest first restores the catalog, table by table', { timeout: 600_000 }, async (t) => {
  const bench = await withLoadBench(t)
  const count = casesOf(100)
  t.comment(`seed ${seed}, ${count} histories`)
  const figures = await tryUndos(bench, { count, seed, log: (line) => t.comment(line) })
  t.comment(JSON.stringify(figures))
  t.ok(figures.undone > count, `${figures.undone} changes taken back`)
})
