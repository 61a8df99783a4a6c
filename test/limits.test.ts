/** Limits without tests elsewhere: a value at the limit is accepted, and one above it is refused. */
import { Readable } from 'node:stream'
import t from 'tap'
import { readBody } from '../api/loads/read-body.ts'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { createToken } from '../shared/catalog/access/create-token.ts'
import { toReject } from '../shared/catalog/loads/reject-record.ts'
import { scrollAcrossLineage } from '../shared/catalog/lineage/scroll-across-lineage.ts'
import { limits } from '../shared/limits.ts'
import { parseUrn } from '../shared/urn/urn.ts'
import { addEdge, asCall, create, dataset, record } from './support/changes.ts'
import { withLoadBench } from './support/load-bench.ts'
import { withServer } from './support/server.ts'

const exceeds = (limit: keyof typeof limits) => ({
  code: 'LIMIT_EXCEEDED',
  details: { limit, maximum: limits[limit] }
})

t.test('urnMaxNesting: parentheses nest so deep in a URN and no deeper', async (t) => {
  const nested = (depth: number): string =>
    `urn:li:dataset:(urn:li:dataPlatform:hive,${'('.repeat(depth - 1)}x${')'.repeat(depth - 1)},PROD)`
  t.equal(parseUrn(nested(limits.urnMaxNesting)).entityType, 'dataset')
  t.throws(() => parseUrn(nested(limits.urnMaxNesting + 1)), exceeds('urnMaxNesting'))
})

/** The same megabyte repeated, so that a body of any size needs no memory. */
function* megabytes(bytes: number): Generator<Buffer> {
  const megabyte = Buffer.alloc(1024 * 1024)
  for (let left = bytes; left > 0; left -= megabyte.length) yield megabyte.subarray(0, left)
}

t.test('loadMaxBytes: a body of this size is read, and not one byte more', async (t) => {
  const read = async (bytes: number): Promise<number> => {
    const stream = Readable.from(megabytes(bytes), { objectMode: false })
    let total = 0
    for await (const chunk of readBody({ headers: {}, iterator: stream.iterator.bind(stream) }))
      total += chunk.length
    return total
  }
  t.equal(await read(limits.loadMaxBytes), limits.loadMaxBytes)
  await t.rejects(read(limits.loadMaxBytes + 1), {
    code: 'BODY_TOO_LARGE',
    details: { limit: 'loadMaxBytes', maximum: limits.loadMaxBytes }
  })
})

t.test(
  'rejectRecordMaxBytes: a rejected record is kept whole up to it, and cut at a whole character beyond',
  async (t) => {
    const reason = { code: 'BAD_REQUEST', message: 'no' } as const
    const fits = 'é'.repeat(limits.rejectRecordMaxBytes / 2)
    t.match(toReject(1, fits, reason), { record: fits, isWhole: true })
    const cut = toReject(1, `x${fits}`, reason)
    t.equal(cut.isWhole, false)
    t.equal(cut.record, `x${fits.slice(1)}`, 'half a character is none')
  }
)

t.test('rejectsKeptMaxCount: this many rejects of a load are kept, and all are counted', async (t) => {
  const bench = await withLoadBench(t)
  const id = await bench.submit(Array.from({ length: limits.rejectsKeptMaxCount + 1 }, () => 'no record'))
  const [kept] = await bench.rows<{ count: number; last: number }>(
    'select count(*) as count, max(line) as last from reject where load_id = ?::uuid',
    [id]
  )
  t.strictSame(kept, { count: limits.rejectsKeptMaxCount, last: limits.rejectsKeptMaxCount })
  t.match(await bench.load(id), {
    state: 'done',
    counts: { received: limits.rejectsKeptMaxCount + 1, rejected: limits.rejectsKeptMaxCount + 1 }
  })
})

t.test('chunkMaxBytes: a chunk ends with the record that fills it', async (t) => {
  const bench = await withLoadBench(t)
  const line = (name: number) => ({
    op: 'upsertEntity',
    urn: dataset(`large${name}`),
    description: 'd'.repeat(limits.descriptionMaxChars)
  })
  const perChunk = Math.ceil(limits.chunkMaxBytes / Buffer.byteLength(`10\t${JSON.stringify(line(10))}\n`))
  const chunks = await bench.chunks(
    await bench.submit(Array.from({ length: perChunk + 1 }, (_, index) => line(10 + index)))
  )
  t.strictSame(
    chunks.map(({ recordCount }) => recordCount),
    [perChunk, 1]
  )
})

t.test('of a server', async (t) => {
  const server = await withServer(t)

  t.test('tokenNameMaxChars: a name of this length, not counting spaces around it', async (t) => {
    const named = (name: string) =>
      createToken(server.db, { name, scopes: ['read'], actorUrn: 'urn:li:corpuser:x' })
    t.equal(
      (await named(` ${'😀'.repeat(limits.tokenNameMaxChars)} `)).record.name.length,
      2 * limits.tokenNameMaxChars
    )
    await t.rejects(named('x'.repeat(limits.tokenNameMaxChars + 1)), exceeds('tokenNameMaxChars'))
  })

  t.test('graphqlMaxDepth: a document nests so deep and no deeper', async (t) => {
    const document = (innermost: string): string =>
      `{ domain(urn: "urn:li:domain:x") { ${'parentDomains { domains { ... on Domain { '.repeat(9)} ${innermost} ${'} } } '.repeat(9)} } }`
    const reasonOf = async (query: string): Promise<unknown> =>
      (await server.graphql(query)).body.errors?.[0].extensions.reason
    t.equal(await reasonOf(document('urn')), 'NOT_FOUND', `${limits.graphqlMaxDepth} levels`)
    t.equal(
      await reasonOf(document('parentDomains { count }')),
      'QUERY_TOO_DEEP',
      `${limits.graphqlMaxDepth + 1} levels`
    )
  })

  t.test('of walks', async (t) => {
    const chain = Array.from({ length: limits.walkMaxHops + 2 }, (_, index) => dataset(`chain${index}`))
    const start = (index: number) => chain[index] ?? ''
    await applyCall(
      server.db,
      [
        record(
          0,
          ...create(...chain),
          ...chain.slice(1).map((urn, index) => addEdge(chain[index] ?? urn, urn))
        )
      ],
      asCall()
    )
    const walk = (from: number, count?: number) =>
      scrollAcrossLineage(
        { db: server.db, memory: server.memory },
        { urn: start(from), direction: 'DOWNSTREAM', ...(count === undefined ? {} : { count }) },
        { facets: false, paths: count !== undefined }
      )

    t.test(
      'walkMaxHops: a walk of this many hops is complete; a longer one says that it is not',
      async (t) => {
        const { report, total } = await walk(1)
        t.match([report.complete, total], [true, limits.walkMaxHops])
        const cut = await walk(0)
        t.match(
          [cut.report.complete, cut.report.truncatedBy, cut.total],
          [false, 'maxHops', limits.walkMaxHops]
        )
      }
    )

    t.test('pageDefaultCount: a page has this many results without a count', async (t) => {
      t.equal((await walk(1)).results.length, limits.pageDefaultCount)
    })

    t.test('pathEntitiesMaxCount: the paths of a page have at most this many entities in all', async (t) => {
      // The paths of the first n results of a chain have 2 + 3 + … + (n + 1) entities.
      const entitiesOf = (results: number): number => (results * (results + 3)) / 2
      const most = Math.floor(Math.sqrt(2 * limits.pathEntitiesMaxCount)) - 2
      t.ok(
        entitiesOf(most) <= limits.pathEntitiesMaxCount && entitiesOf(most + 1) > limits.pathEntitiesMaxCount
      )
      const { results } = await walk(1, most)
      t.equal(
        results.reduce((sum, { paths }) => sum + (paths[0]?.length ?? 0), 0),
        entitiesOf(most)
      )
      await t.rejects(walk(1, most + 1), exceeds('pathEntitiesMaxCount'))
    })
  })
})
