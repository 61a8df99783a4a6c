/**
 * Filtering hits: the same hits are kept and counted as by checking each one on its own, however hits are
 * divided into slices.
 */
import { deepStrictEqual, equal, fail, ok } from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { createGroupNumbers } from '../shared/catalog/lineage/class-groups.ts'
import { degreeValueOf } from '../shared/catalog/lineage/filter-fields.ts'
import { checkQuestion } from '../shared/catalog/lineage/scroll-question.ts'
import { filterHits } from '../shared/catalog/lineage/filter-hits.ts'
import type { LineageReader } from '../shared/catalog/lineage/lineage-reader.ts'
import { sqlLineageReader } from '../shared/catalog/lineage/sql-lineage-reader.ts'
import { createLog } from '../shared/platform/log.ts'
import { findEntities } from '../shared/store/entities.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import { apply, column, create, upsert } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { fc } from './support/fast-check.ts'
import { openMemory } from './support/lineage-memory.ts'
import { where } from './support/named-graph.ts'

const assetOn = (platform: string): Urn =>
  toUrn(`urn:li:dataset:(urn:li:dataPlatform:${platform},sifted,PROD)`)
const [hive, kafka, removed] = [assetOn('hive'), assetOn('kafka'), assetOn('trino')]
const kinds = ['hive', 'kafka', 'removed', 'unknown'] as const
type Run = { kind: (typeof kinds)[number]; steps: number; count: number }

const questions = [
  { name: 'everything', filters: {}, keeps: () => true, readsOwn: false },
  {
    name: 'one platform',
    filters: where([{ field: 'platform', values: ['urn:li:dataPlatform:hive'] }]),
    keeps: (kind: string) => kind === 'hive',
    readsOwn: false
  },
  {
    name: 'two hops',
    filters: where([{ field: 'degree', values: ['2'] }]),
    keeps: (_: string, degree: number) => degree === 2,
    readsOwn: false
  },
  { name: 'a text', filters: { query: 'kafka' }, keeps: (kind: string) => kind === 'kafka', readsOwn: true }
]

const runs = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    steps: fc.nat({ max: 2 }),
    count: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 9_000 }))
  }),
  { maxLength: 6 }
)

function hitsOf(given: readonly Run[], firstDegree: number): { kinds: Run['kind'][]; degrees: number[] } {
  const hits: { kinds: Run['kind'][]; degrees: number[] } = { kinds: [], degrees: [] }
  let degree = firstDegree
  for (const { kind, steps, count } of given) {
    degree += steps
    for (let at = 0; at < count; at += 1) {
      hits.kinds.push(kind)
      hits.degrees.push(degree)
    }
  }
  return hits
}

function countsOf(values: readonly string[], word: string): string[] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].map(([value, count]) => `${count} ${word} ${value}`)
}

t.test('what is kept of many hits', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(hive, kafka, removed), upsert(removed, 'status', { removed: true }))
  const ids = new Map(
    (await db.transaction((tx) => findEntities(tx, [hive, kafka, removed]))).map(({ urn, id }) => [urn, id])
  )
  const idOf = {
    hive: ids.get(hive) ?? 0,
    kafka: ids.get(kafka) ?? 0,
    removed: ids.get(removed) ?? 0,
    unknown: 1_000_000
  }
  for (const { name, filters, keeps, readsOwn } of questions) {
    await t.test(`is what a look at each says: ${name}`, async (t) => {
      const question = checkQuestion({ urn: hive, direction: 'DOWNSTREAM', ...filters })
      // Without degrees, all are 0, as in a search of entities.
      await fc.assert(
        fc.asyncProperty(runs, fc.constantFrom(0, 1), async (given, firstDegree) => {
          const { kinds, degrees } = hitsOf(
            firstDegree === 0 ? given.map((run) => ({ ...run, steps: 0 })) : given,
            firstDegree
          )
          const hits = {
            ids: Int32Array.from(kinds, (kind) => idOf[kind]),
            degrees: Uint16Array.from(degrees)
          }
          const right = [...kinds.entries()].flatMap(([at, kind]) =>
            kind !== 'unknown' && kind !== 'removed' && keeps(kind, degrees[at] ?? 0) ? [at] : []
          )
          const filtered = await db.transaction((tx) =>
            filterHits(sqlLineageReader(tx, null), question, hits)
          )
          deepStrictEqual(
            {
              total: filtered.total,
              kept: [...(filtered.kept ?? kinds.keys())],
              byClass: filtered.tally.byClass
                .map(
                  ({ entityClass, degree, count }) => `${count} of ${entityClass.platformUrn} at ${degree}`
                )
                .sort(),
              byDegree: filtered.tally.byDegree.flatMap((count, degree) =>
                count > 0 ? [`${count} at ${degree}`] : []
              ),
              readsOwn: filtered.readsOwn
            },
            {
              total: right.length,
              kept: right,
              byClass: countsOf(
                right.map((at) => `urn:li:dataPlatform:${kinds[at]} at ${degreeValueOf(degrees[at] ?? 0)}`),
                'of'
              ).sort(),
              byDegree: countsOf(
                right.map((at) => String(degrees[at])),
                'at'
              ),
              readsOwn: readsOwn && kinds.some((kind) => kind === 'hive' || kind === 'kafka')
            }
          )
        }),
        { numRuns: 60 }
      )
      t.pass('in all runs')
    })
  }

  await t.test('has a different fingerprint if an id, a degree or the order differs', async (t) => {
    const question = checkQuestion({ urn: hive, direction: 'DOWNSTREAM' })
    const printOf = (hitIds: number[], degrees: number[]): Promise<number> =>
      db.transaction(
        async (tx) =>
          (
            await filterHits(sqlLineageReader(tx, null), question, {
              ids: Int32Array.from(hitIds),
              degrees: Uint16Array.from(degrees)
            })
          ).fingerprint
      )
    const prints = [
      await printOf([idOf.hive, idOf.kafka], [1, 1]),
      await printOf([idOf.kafka, idOf.hive], [1, 1]),
      await printOf([idOf.hive, idOf.kafka], [1, 2]),
      await printOf([idOf.hive, idOf.kafka], [2, 2]),
      await printOf([idOf.hive], [1]),
      await printOf([], [])
    ]
    t.equal(new Set(prints).size, prints.length)
    t.equal(
      await printOf([idOf.hive, idOf.unknown, idOf.kafka], [1, 1, 1]),
      prints[0],
      'and is that of what is kept'
    )
  })
})

type Asked = { question: (typeof questions)[number]; classCount: number; hitCount: number }

/**
 * Entities of many classes. Reads resolve in a later turn of the event loop, so that other filters run in
 * between.
 */
async function siftMany(
  reader: LineageReader,
  { question: { filters, keeps, readsOwn }, classCount, hitCount }: Asked
): Promise<void> {
  let pauses = 0
  const classes = Array.from({ length: classCount }, (_, index) => ({
    index,
    entityType: 'dataset',
    platformUrn: toUrn(`urn:li:dataPlatform:${index % 2 === 0 ? 'hive' : 'kafka'}`),
    origin: 'PROD',
    exists: true,
    isRemoved: index % 11 === 5,
    domainId: index
  }))
  const classOf = (id: number): (typeof classes)[number] | undefined =>
    id % 97 === 0 ? undefined : classes[(id * 7_919) % classCount]
  const made: Partial<LineageReader> = {
    classGroups: async (ids) => {
      await nextTurn()
      return createGroupNumbers()(
        ids.map((id) => (classOf(id)?.index ?? -1) + 1),
        (number) => (number === 0 ? null : (classes[number - 1] ?? fail(`no class ${number}`)))
      )
    },
    urns: async () => {
      await nextTurn()
      return (id) => assetOn(classOf(id)?.platformUrn.slice('urn:li:dataPlatform:'.length) ?? 'none')
    },
    documents: async () => new Map(),
    async pause() {
      pauses += 1
      await nextTurn()
    }
  }
  const ids = Int32Array.from({ length: hitCount }, (_, at) => at + 1)
  const degrees = Uint16Array.from(ids, (id) => 1 + Math.floor(id / 1_000))
  const filtered = await filterHits(
    { ...reader, ...made },
    checkQuestion({ urn: hive, direction: 'DOWNSTREAM', ...filters }),
    { ids, degrees }
  )
  ok(
    pauses >= Math.max(1, hitCount / (readsOwn ? 2_000 : 10_000)),
    `others had ${pauses} turns beside ${hitCount} hits`
  )
  const right = [...ids.keys()].filter((at) => {
    const found = classOf(at + 1)
    return (
      found &&
      !found.isRemoved &&
      keeps(found.platformUrn === 'urn:li:dataPlatform:hive' ? 'hive' : 'kafka', degrees[at] ?? 0)
    )
  })
  deepStrictEqual(
    {
      total: filtered.total,
      kept: [...(filtered.kept ?? ids.keys())],
      byClass: filtered.tally.byClass
        .map(({ entityClass, degree, count }) => `${count} of ${entityClass.index} at ${degree}`)
        .sort()
    },
    {
      total: right.length,
      kept: right,
      byClass: countsOf(
        right.map((at) => `${classOf(at + 1)?.index} at ${degreeValueOf(degrees[at] ?? 0)}`),
        'of'
      ).sort()
    }
  )
}

t.test(
  'the filters keep the hits of many classes that a look at each hit keeps, while other questions are answered',
  async (t) => {
    const { db } = await withDatabase(t)
    await db.transaction(async (tx) => {
      const reader = sqlLineageReader(tx, null)
      const asked = questions.flatMap((question) =>
        [1, 2, 255, 256, 257, 1_024, 3_000].flatMap((classCount) =>
          [3, 12_000].map((hitCount): Asked => ({ question, classCount, hitCount }))
        )
      )
      await Promise.all(asked.map((each) => siftMany(reader, each)))
    })
  }
)

t.test(
  'the groups of many are the classes of each, of assets and columns beside each other and of who is not known',
  async (t) => {
    const { db, url } = await withDatabase(t)
    await apply(
      db,
      ...create(hive, kafka, removed),
      upsert(removed, 'status', { removed: true }),
      upsert(kafka, 'upstreamLineage', {
        upstreams: [],
        fineGrainedLineages: [
          {
            upstreamType: 'FIELD_SET',
            downstreamType: 'FIELD',
            upstreams: [column(hive, 'a'), column(removed, 'b')],
            downstreams: [column(kafka, 'c')]
          }
        ]
      })
    )
    const opened = await (await openMemory(t, db, url, createLog({ logLevel: 'silent' }))).open()
    t.teardown(() => opened?.release())
    const known = await db.transaction((tx) =>
      findEntities(tx, [hive, kafka, removed, column(hive, 'a'), column(removed, 'b'), column(kafka, 'c')])
    )
    t.equal(known.length, 6)
    const anyIds = fc
      .array(fc.constantFrom(...known.map(({ id }) => id), 1_000_000), { maxLength: 40 })
      .map((ids) => Int32Array.from(ids))
    for (const engine of ['memory', 'sql'] as const) {
      await fc.assert(
        fc.asyncProperty(anyIds, (ids) =>
          db.transaction(async (tx) => {
            const reader = engine === 'memory' && opened ? opened.reader : sqlLineageReader(tx, null)
            equal(reader.engine, engine)
            const classOf = await reader.classes(ids)
            const { numbers, groups } = await reader.classGroups(ids)
            const ofNumber = new Map(groups.map(({ number, entityClass }) => [number, entityClass]))
            deepStrictEqual(
              [...numbers].map((number) => ofNumber.get(number)),
              [...ids].map((id) => classOf(id))
            )
            deepStrictEqual(
              groups.map(({ number, count }) => [number, count]),
              [...ofNumber.keys()].map((number) => [number, numbers.filter((own) => own === number).length])
            )
          })
        ),
        { numRuns: 60 }
      )
    }
  }
)
