/**
 * P4 in hard cases: a few bad records among very many, and records that kill the worker that applies them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { receiveLoad } from '../shared/catalog/loads/receive-load.ts'
import { inPieces } from './torture/catalog-calls.ts'
import { spoilt } from './support/bad-records.ts'
import {
  admin,
  dataset,
  edge,
  entity,
  rejectsOf,
  withLoadBench,
  type LoadBench
} from './support/load-bench.ts'
import { setTrap, trapActions } from './support/traps.ts'

const request = {
  actor: admin,
  requestId: null,
  format: 'ndjson',
  source: 'test',
  missingReferences: 'reject'
} as const

async function* bytesOf(lines: Iterable<string>): AsyncGenerator<Buffer> {
  for (const piece of inPieces(lines)) yield Buffer.from(piece)
}

const statementCount = async (bench: LoadBench): Promise<number> =>
  (await bench.rows<{ count: number }>('select count(*)::int as count from statement'))[0]?.count ?? 0

t.test(
  'bad records first, last, at the border of a chunk and anywhere are rejected alone, each with line, code and text',
  async (t) => {
    const count = 100_000
    const load = spoilt(count, 6)
    const bench = await withLoadBench(t)
    await receiveLoad(bench.db, bench.queue, request, bytesOf(load.assets()))
    await bench.drain()
    const { id } = await receiveLoad(bench.db, bench.queue, request, bytesOf(load.lines()))
    t.same(
      await bench.rows(
        'select first_line as "firstLine" from chunk where load_id = ?::uuid order by first_line limit 2',
        [id]
      ),
      [{ firstLine: 2 }, { firstLine: load.border[1] }],
      'there is a border between chunks where the test has one'
    )
    await bench.drain()
    t.match(await bench.load(id), {
      state: 'done',
      counts: { received: count, applied: count - load.bad.length, unchanged: 0, rejected: load.bad.length }
    })
    t.same(
      (await rejectsOf(bench, id)).map(({ line, code, field, record }) => ({
        line,
        text: record,
        code,
        field: field ?? null
      })),
      load.bad
    )
    t.equal(await statementCount(bench), count - load.bad.length)
  }
)

const chunkEdges = 2_000
const poisonLine = 1_234

/** Edges, one of them from the asset `poison`, sent to a catalog that has all assets. */
async function withPoison(t: Test): Promise<{ bench: LoadBench; submit: () => Promise<string> }> {
  const bench = await withLoadBench(t)
  await bench.submit([...Array.from({ length: 1_000 }, (_, number) => entity(number)), entity('poison')])
  await bench.drain()
  const edges = Array.from({ length: chunkEdges }, (_, index) =>
    index + 1 === poisonLine
      ? edge('poison', 1)
      : edge(index % 1_000, (index + 1 + Math.floor(index / 1_000)) % 1_000)
  )
  return { bench, submit: () => bench.submit(edges) }
}

const poisons = [
  { name: 'fails for its data (22P02)', action: trapActions.fail('22P02'), reject: { code: 'BAD_REQUEST' } },
  {
    name: 'fails for no known reason (XX000)',
    action: trapActions.fail('XX000'),
    reject: { code: 'INTERNAL' }
  },
  {
    name: 'ends the connection of whoever applies it',
    action: trapActions.endConnection,
    reject: { code: 'INTERNAL' }
  }
]

for (const { name, action, reject } of poisons) {
  t.test(`a record that ${name} is found and rejected alone`, async (t) => {
    const { bench, submit } = await withPoison(t)
    await setTrap(bench.db, action, dataset('poison'))
    const id = await submit()
    await bench.drain()
    t.match(await bench.load(id), {
      state: 'done',
      counts: { received: chunkEdges, applied: chunkEdges - 1, rejected: 1 }
    })
    const rejects = await rejectsOf(bench, id)
    t.match(rejects, [{ line: poisonLine, record: JSON.stringify(edge('poison', 1)), ...reject }])
    t.notMatch(rejects[0]?.message, /secret/)
    t.equal(await statementCount(bench), chunkEdges - 1)
  })
}

t.test('a full disk rejects nothing, however long it is full', async (t) => {
  const { bench, submit } = await withPoison(t)
  const makeRoom = await setTrap(bench.db, trapActions.fail('53100'), null)
  const id = await submit()
  const room = sleep(3_000).then(makeRoom)
  await bench.drain()
  await room
  t.match(await bench.load(id), {
    state: 'done',
    counts: { received: chunkEdges, applied: chunkEdges, rejected: 0 }
  })
  t.ok(
    (await bench.rows('select 1 from chunk where load_id = ?::uuid and fence > 3', [id])).length > 0,
    'it was tried meanwhile'
  )
})
