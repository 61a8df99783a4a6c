/** What loads keep of what they changed: packed and unpacked, and noted in the transaction of each chunk. */
import t from 'tap'
import {
  packJournal,
  unpackJournal,
  type JournalEntry,
  type StatementKey,
  type StatementKeyColumns
} from '../shared/statements/load-journal.ts'
import { bareRecordKey } from '../shared/model/record-keys.ts'
import { fc } from './support/fast-check.ts'
import { dataset, edge, entity, removal, withLoadBench } from './support/load-bench.ts'

const id = fc.integer({ min: 1, max: 2 ** 31 - 1 })
const anyKey: fc.Arbitrary<StatementKey> = fc
  .record({
    downstreamId: id,
    upstreamId: id,
    ownerId: id,
    field: fc.integer({ min: 16, max: 127 }),
    sourceId: fc.integer({ min: 1, max: 5 }),
    recordKey: fc.oneof(fc.constant(bareRecordKey), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }))
  })
  .chain((key) =>
    fc.constantFrom(key, { ...key, ownerId: key.downstreamId }, { ...key, ownerId: key.upstreamId })
  )
const anyBefore = fc.record({
  seq: fc.integer({ min: 1 }),
  line: id,
  changedSeq: fc.integer({ min: 1 }),
  position: id,
  attributes: fc.constantFrom(null, { type: 'COPY' })
})
const anyOther: fc.Arbitrary<Exclude<JournalEntry, { kind: 'stated' }>> = fc.oneof(
  fc.record({ kind: fc.constant('removed' as const), key: anyKey, before: anyBefore }),
  fc.record(
    { kind: fc.constant('restated' as const), key: anyKey, before: fc.option(anyBefore), left: id },
    { requiredKeys: ['kind', 'key', 'before'] }
  ),
  fc.record({
    kind: fc.constant('association' as const),
    entityId: id,
    before: fc.option(
      fc.record({ seq: id, domainId: fc.option(id), attributes: fc.constantFrom(null, { x: 1 }) })
    )
  }),
  fc.record({
    kind: fc.constant('event' as const),
    entityId: id,
    aspectName: fc.constantFrom('status', 'upstreamLineage')
  }),
  fc.record({
    kind: fc.constant('aspect' as const),
    entityId: id,
    aspectName: fc.constantFrom('status', 'upstreamLineage'),
    was: fc.constantFrom('none' as const, 'own' as const, 'kept' as const)
  }),
  fc.record({
    kind: fc.constantFrom('made' as const, 'unmade' as const, 'madeDomain' as const, 'deleted' as const),
    entityId: id
  })
)
const inColumns = (keys: readonly StatementKey[]): StatementKeyColumns => ({
  downstreamIds: Int32Array.from(keys, (key) => key.downstreamId),
  upstreamIds: Int32Array.from(keys, (key) => key.upstreamId),
  ownerIds: Int32Array.from(keys, (key) => key.ownerId),
  fields: Int32Array.from(keys, (key) => key.field),
  sourceIds: Int32Array.from(keys, (key) => key.sourceId),
  recordKeys: Int32Array.from(keys, (key) => key.recordKey)
})
const inOrder = (keys: readonly StatementKey[]): string[] =>
  keys.map((key) => JSON.stringify(key, Object.keys(key).sort())).sort()

t.test('whatever is packed can be unpacked, and is packed the same way each time', async (t) => {
  fc.assert(
    fc.property(fc.array(anyKey), fc.array(anyOther), (stated, others) => {
      const { payload, counts } = packJournal(inColumns(stated), others, 7)
      const entries = unpackJournal(payload)
      const keys = entries.flatMap((entry) => (entry.kind === 'stated' ? entry.key : []))
      t.same(inOrder(keys), inOrder(stated))
      t.same(
        entries.filter((entry) => entry.kind !== 'stated'),
        others
      )
      t.equal(
        counts.reduce((sum, count) => sum + count, 0),
        stated.length + others.length
      )
      t.same(unpackJournal(payload), entries)
    }),
    { numRuns: 300 }
  )
  t.throws(() => unpackJournal(Buffer.from([9, 0])), /not stored columns of kind journal/)
})

t.test('a plain edge takes few bytes of the journal', async (t) => {
  const keys = Array.from({ length: 5_000 }, (_, index) => ({
    downstreamId: 100_000 + ((index * 7_919) % 100_000),
    upstreamId: 100_000 + ((index * 104_729) % 100_000),
    ownerId: 0,
    field: 16,
    sourceId: 3,
    recordKey: bareRecordKey
  })).map((key) => ({ ...key, ownerId: key.downstreamId }))
  t.ok(packJournal(inColumns(keys), [], 7).payload.length < 6 * keys.length)
})

t.test('a chunk notes what it changed, and nothing of what it found as it says', async (t) => {
  const bench = await withLoadBench(t)
  const kindsOf = async (loadId: string): Promise<string[]> =>
    (
      await bench.rows<{ payload: Buffer }>(
        'select payload from load_journal where load_id = ?::uuid order by id',
        [loadId]
      )
    ).flatMap(({ payload }) => unpackJournal(payload).map((entry) => entry.kind))
  const applied = async (records: Parameters<typeof bench.submit>[0]): Promise<string[]> => {
    const loadId = await bench.submit(records)
    await bench.drain()
    t.equal((await bench.load(loadId)).state, 'done')
    return kindsOf(loadId)
  }
  t.same((await applied([entity('a'), entity('b'), edge('a', 'b')])).sort(), [
    'aspect',
    'aspect',
    'aspect',
    'made',
    'made',
    'stated'
  ])
  t.same(await applied([entity('a'), entity('b'), edge('a', 'b')]), [], 'the same again changes nothing')
  t.same(
    await applied([removal('a', 'b')]),
    ['removed', 'aspect'].filter((kind) => kind === 'removed')
  )
  t.same(
    (
      await applied([
        { op: 'createDomain', id: 'd', name: 'D' },
        { op: 'setDomain', entityUrn: dataset('a'), domainUrn: 'urn:li:domain:d' }
      ])
    ).sort(),
    ['association', 'madeDomain']
  )
  t.same(
    await applied([
      { entityType: 'dataset', entityUrn: dataset('b'), changeType: 'DELETE', aspectName: 'key' },
      'no record'
    ]),
    []
  )
})
