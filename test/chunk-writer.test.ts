/**
 * Storing gathered records: one chunk is stored while the next is read, and an error is reported once,
 * unchanged.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createChunkWriter, type Stored } from '../shared/catalog/loads/chunk-writer.ts'
import { retryLoad } from '../shared/catalog/loads/retry-load.ts'
import type { PlainEdge } from '../shared/formats/plain-edges.ts'
import { limits } from '../shared/limits.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { latch } from './support/paused-tx.ts'
import { admin, dataset, edge, entity, withLoadBench, type LoadBench } from './support/load-bench.ts'

const shape = {
  prefix: '{"upstreamUrn":"',
  middle: '","downstreamUrn":"',
  suffix: '"}',
  upstreamFirst: true,
  isRemoval: false
}
const edgeOf = (line: number): PlainEdge => ({
  line,
  shape,
  upstream: toUrn(dataset('a')),
  downstream: toUrn(dataset('b'))
})
const perChunk = limits.edgeChunkMaxRecords

t.test('a writer that stores one chunk while it gathers the next', async (t) => {
  async function fill(writer: ReturnType<typeof createChunkWriter>, chunk: number): Promise<void> {
    for (let line = chunk * perChunk; line < (chunk + 1) * perChunk; line += 1)
      await writer.addEdge(edgeOf(line + 1))
  }

  t.test('gathers the next chunk while one is stored, and no more', async (t) => {
    const [started, released] = [latch(), latch()]
    const stored: Stored[] = []
    const writer = createChunkWriter(
      'id',
      async (_work, what) => {
        started.open()
        await released.opened
        stored.push(what)
      },
      { isBehind: true }
    )
    await fill(writer, 0)
    await started.opened
    let isThrough = false
    const second = fill(writer, 1).then(() => {
      isThrough = true
    })
    await sleep(50)
    t.equal(isThrough, false, 'what is gathered waits for what is stored')
    released.open()
    await second
    await writer.flush()
    t.same(
      stored.map(({ records }) => records),
      [perChunk, perChunk]
    )
  })

  t.test('throws an error when the next chunk is full, and is then idle', async (t) => {
    let calls = 0
    const writer = createChunkWriter(
      'id',
      async () => {
        calls += 1
        throw new Error(`call ${calls}`)
      },
      { isBehind: true }
    )
    await fill(writer, 0)
    await t.rejects(fill(writer, 1), { message: 'call 1' })
    await writer.idle()
    await t.rejects(writer.flush(), { message: 'call 1' })
    t.equal(calls, 1, 'nothing is stored behind what was not')
  })

  t.test('throws the error of the last chunk at the end', async (t) => {
    const writer = createChunkWriter(
      'id',
      async () => {
        throw new Error('the last')
      },
      { isBehind: true }
    )
    await writer.addEdge(edgeOf(1))
    await t.rejects(writer.flush(), { message: 'the last' })
  })
})

/**
 * Makes the database refuse chunks with an error: the first `passed` chunks succeed, and the next `times`
 * fail.
 */
async function refuseChunks(
  { rows }: LoadBench,
  sqlState: string,
  { passed, times }: { passed: number; times: number }
): Promise<void> {
  await rows('create sequence chunks_stored')
  await rows(`create function refuse_chunk() returns trigger language plpgsql as $$
    declare number bigint := nextval('chunks_stored');
    begin
      if number > ${passed} and number <= ${passed + times} then raise exception using errcode = '${sqlState}'; end if;
      return new;
    end $$`)
  await rows(
    'create trigger refuse_chunk before insert on chunk for each row execute function refuse_chunk()'
  )
}

async function endRefusing(t: Test, { rows }: LoadBench): Promise<void> {
  t.ok(
    ((await rows<{ count: number }>('select last_value::int as count from chunks_stored'))[0]?.count ?? 0) >
      1,
    'the database was asked'
  )
  await rows('drop trigger refuse_chunk on chunk')
}

t.test(
  'an upload with a chunk that cannot be stored is aborted with the reason, and nothing of it is left',
  async (t) => {
    const bench = await withLoadBench(t)
    await refuseChunks(bench, '53100', { passed: 1, times: 1_000 })
    const lines = Array.from({ length: 3 * perChunk }, (_, index) => JSON.stringify(edge(index, 'b')))
    await t.rejects(bench.submit(lines), { code: '53100' })
    await endRefusing(t, bench)
    t.match(await bench.rows('select state, received from load'), [{ state: 'aborted' }])
    t.same(await bench.rows('select id from chunk'), [])
  }
)

t.test('a retry whose chunks meet a deadlock is repeated, and one without disk space says so', async (t) => {
  const bench = await withLoadBench(t)
  const count = limits.chunkMaxRecords + 1_500
  const id = await bench.submit(
    Array.from({ length: count }, (_, index) => JSON.stringify(edge('a', `missing_${index}`)))
  )
  await bench.drain()
  t.match(await bench.load(id), { state: 'done', counts: { rejected: count } })
  await refuseChunks(bench, '53100', { passed: 0, times: 1 })
  await t.rejects(retryLoad(bench.db, bench.queue, admin, id, {}), { code: '53100' })
  await bench.rows('drop trigger refuse_chunk on chunk')
  await bench.rows('drop sequence chunks_stored')
  await bench.rows('drop function refuse_chunk')
  await refuseChunks(bench, '40P01', { passed: 0, times: 2 })
  await bench.submit([entity('a')])
  await retryLoad(bench.db, bench.queue, admin, id, {})
  await endRefusing(t, bench)
  await bench.drain()
  t.match(await bench.load(id), { state: 'done', counts: { received: count, rejected: count } })
})
