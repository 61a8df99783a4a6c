/**
 * Edges given by their two ends, from the text of a line to the chunk and back: the result is the same as
 * reading JSON.
 */
import t from 'tap'
import { packLines, unpackEdgesOnly } from '../shared/catalog/loads/chunk-payload.ts'
import { UnreadableChunk } from '../shared/catalog/write/urns-of-ids.ts'
import { createEdgeGatherer } from '../shared/catalog/loads/edge-gatherer.ts'
import { holdsEdges, lineOfEdge, packEdges, type EdgeBatch } from '../shared/catalog/write/edge-payload.ts'
import { retryLoad } from '../shared/catalog/loads/retry-load.ts'
import { CatalogError } from '../shared/errors.ts'
import { parseNdjsonRecord } from '../shared/formats/ndjson.ts'
import { createPlainEdgeReader, textOfEdge } from '../shared/formats/plain-edges.ts'
import { openRecords, type ReadRecord } from '../shared/formats/read-records.ts'
import type { SingleRecord } from '../shared/formats/read-text.ts'
import { endOfOrdinaryDataset, isOrdinaryDataset } from '../shared/urn/ordinary-dataset.ts'
import { PackedUrns } from '../shared/urn/packed-urns.ts'
import { schemaFieldUrn } from '../shared/urn/kinds.ts'
import { entityTypeOf, parseUrn } from '../shared/urn/urn.ts'
import { fc } from './support/fast-check.ts'
import { admin, dataset, edge, entity, rejectsOf, removal, withLoadBench } from './support/load-bench.ts'
import { oneByOne } from './support/read-records.ts'

const flow = 'urn:li:dataFlow:(airflow,nightly,PROD)'
const urns = [
  dataset('a'),
  dataset('b'),
  dataset('ü 😀'),
  dataset('a"b'),
  dataset('a\\b'),
  dataset('tab\there'),
  dataset(' \u00a0'),
  dataset('\u2028'),
  dataset('(x)'),
  dataset('x,y'),
  'urn:li:dataset:(urn:li:dataPlatform:hive,a,WRONG)',
  `urn:li:schemaField:(${dataset('a')},x)`,
  flow,
  `urn:li:dataJob:(${flow},load)`,
  'urn:li:chart:(looker,a)',
  'urn:li:domain:d',
  'urn:li:',
  ''
]
const anyUrn = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...urns.slice(0, 2)) },
  { weight: 4, arbitrary: fc.constantFrom(...urns) }
)

/** As JSON.stringify prints it, with every character escaped, or with missing escapes. */
const written = (text: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    JSON.stringify(text),
    JSON.stringify(text),
    JSON.stringify(text),
    `"${text}"`,
    `"${[...text]
      .flatMap((character) => character.split(''))
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')}"`
  )
const value = fc.oneof(
  { weight: 8, arbitrary: anyUrn.chain(written) },
  { weight: 1, arbitrary: fc.constantFrom('null', '7', '{}', '["x"]', '"', '') }
)
const member = (name: string, arbitrary: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom('', '', '', ' ', '\t'), fc.constantFrom('', '', ' '), arbitrary)
    .map(([before, after, text]) => `"${name}"${before}:${after}${text}`)
const op = member(
  'op',
  fc.constantFrom('"addEdge"', '"addEdge"', '"addEdge"', '"removeEdge"', 'null', '"nope"', '"add\\u0045dge"')
)
const other = fc.constantFrom(
  '"entityType":"dataset"',
  '"colour":"red"',
  '"proposedSnapshot":{}',
  '"__proto__":{}',
  '"\\u0075pstreamUrn":"x"'
)
const members = fc
  .tuple(
    member('upstreamUrn', value),
    member('downstreamUrn', value),
    fc.array(op, { maxLength: 1 }),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(fc.oneof(op, other, member('upstreamUrn', value)), { maxLength: 2 }) }
    )
  )
  .chain(([up, down, ops, more]) =>
    fc.shuffledSubarray([up, down, ...ops, ...more], { minLength: more.length > 0 ? 1 : 2 })
  )
const space = fc.constantFrom('', '', '', ' ', '\t', '\r', '\u00a0', '  ')
const wild = fc
  .tuple(members, space, space, space, fc.constantFrom('}', '}', '}', '}', '}}', ',}', ''))
  .map(
    ([parts, before, between, after, end]) =>
      `${before}{${between}${parts.join(`${after},${between}`)}${after}${end}${before}`
  )

/** As programs print it. */
const shapes: readonly ((upstreamUrn: string, downstreamUrn: string) => string)[] = [
  (upstreamUrn, downstreamUrn) => JSON.stringify({ upstreamUrn, downstreamUrn }),
  (upstreamUrn, downstreamUrn) => `{"downstreamUrn": "${downstreamUrn}", "upstreamUrn": "${upstreamUrn}"}`,
  (upstreamUrn, downstreamUrn) => JSON.stringify({ op: 'addEdge', upstreamUrn, downstreamUrn })
]
const removalShapes: typeof shapes = [
  (upstreamUrn, downstreamUrn) => JSON.stringify({ op: 'removeEdge', upstreamUrn, downstreamUrn }),
  (upstreamUrn, downstreamUrn) =>
    `{"downstreamUrn": "${downstreamUrn}", "upstreamUrn": "${upstreamUrn}", "op": "removeEdge"}`
]
const allShapes = [...shapes, ...removalShapes]
const line = fc.oneof(
  wild,
  fc.tuple(fc.constantFrom(...allShapes), anyUrn, anyUrn).map(([shape, up, down]) => shape(up, down))
)

/** One line, or several consecutive ones with the same shape, as a program prints them. */
const someLines = fc.oneof(
  line.map((text) => [text]),
  fc
    .tuple(
      fc.constantFrom(...allShapes),
      fc.constantFrom('', '', '\r'),
      fc.array(fc.tuple(anyUrn, anyUrn), { minLength: 2, maxLength: 6 })
    )
    .map(([shape, end, pairs]) => pairs.map(([up, down]) => `${shape(up, down)}${end}`))
)

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let start = 0
  for (let at = 0; start < bytes.length; at += 1) {
    const size = sizes[at % sizes.length] ?? bytes.length
    yield bytes.subarray(start, start + size)
    start += size
  }
}

async function readAll(text: string, sizes: readonly number[] = []): Promise<ReadRecord[]> {
  const entries: ReadRecord[] = []
  const { records } = await openRecords('ndjson', cut(Buffer.from(text), sizes))
  for await (const batch of records) entries.push(...batch)
  return entries
}

/** The line number, the text as sent, and the change or the reason of the refusal. */
function contentOf(entry: SingleRecord): object {
  if ('shape' in entry)
    return {
      line: entry.line,
      text: textOfEdge(entry.shape, entry.upstream, entry.downstream),
      changes: [
        {
          kind: entry.shape.isRemoval ? 'removeEdge' : 'addEdge',
          upstreamUrn: entry.upstream,
          downstreamUrn: entry.downstream
        }
      ]
    }
  if ('error' in entry)
    return {
      line: entry.line,
      text: entry.text,
      code: entry.error.code,
      message: entry.error.message,
      details: entry.error.details
    }
  if ('document' in entry) return entry
  return { line: entry.line, text: entry.text, changes: entry.record.changes }
}

function contentOfJson(text: string, line: number): object {
  try {
    return { line, text, changes: parseNdjsonRecord(text, line).changes }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return { line, text, code: error.code, message: error.message, details: error.details }
  }
}

t.test('a line says what it says as JSON, however it is written and wherever the body is cut', async (t) => {
  let [plainCount, runsCount] = [0, 0]
  await fc.assert(
    fc.asyncProperty(
      fc.array(someLines, { minLength: 1, maxLength: 8 }).map((each) => each.flat()),
      fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 200, max: 3_000 })), {
        minLength: 1,
        maxLength: 4
      }),
      async (lines, sizes) => {
        const entries = await readAll(lines.join('\n'), sizes)
        plainCount += entries.filter((entry) => 'shape' in entry).length
        runsCount += entries.filter((entry) => 'count' in entry && entry.count > 1).length
        const expected = lines.flatMap((text, at) =>
          text.trim() === '' ? [] : contentOfJson(text.trim(), at + 1)
        )
        t.same(oneByOne(entries).map(contentOf), expected)
      }
    ),
    { numRuns: 400 }
  )
  t.ok(plainCount > 150, 'many are read without JSON')
  t.ok(runsCount > 20, 'and some many at once')
})

t.test('what programs write is read without JSON', async (t) => {
  const [a, b] = [dataset('a'), 'urn:li:chart:(looker,a)']
  for (const text of [
    JSON.stringify({ upstreamUrn: a, downstreamUrn: b }),
    JSON.stringify({ downstreamUrn: b, upstreamUrn: a }),
    JSON.stringify({ op: 'addEdge', upstreamUrn: a, downstreamUrn: b }),
    `{"upstreamUrn": "${a}", "downstreamUrn": "${b}"}`,
    `{ "downstreamUrn" : "${b}",\t"upstreamUrn" : "${a}", "op": "addEdge" }`,
    ...removalShapes.map((shape) => shape(a, b))
  ])
    t.match(
      createPlainEdgeReader()(text, 7),
      { line: 7, upstream: a, downstream: b, shape: { isRemoval: text.includes('removeEdge') } },
      text
    )
  t.equal(
    createPlainEdgeReader()(`{${' '.repeat(300)}"upstreamUrn":"${a}","downstreamUrn":"${b}"}`, 1),
    null,
    'a line that is padded out takes the room of a record'
  )
})

t.test(
  'a dataset that the fast check accepts is one that the parser accepts, as text and as bytes',
  async (t) => {
    const name = fc.string({ unit: fc.constantFrom(...'aB9_.-/:$#@+= ,()"%\\ü\t'.split('')), maxLength: 6 })
    const text = fc
      .tuple(
        fc.constantFrom('hive', 'hive', 'a.b-c_d', 'x'.repeat(100), 'x'.repeat(101), '.', ''),
        fc.oneof(
          { weight: 9, arbitrary: name },
          { weight: 1, arbitrary: fc.constantFrom('n'.repeat(700), 'n'.repeat(701)) }
        ),
        fc.constantFrom(
          'PROD',
          'PROD',
          'DEV',
          'NON_PROD',
          'SANDBOX',
          'prod',
          'PRO',
          'PRODS',
          'NON_PRODS',
          '',
          'PROD)'
        )
      )
      .map(([platform, own, fabric]) => `urn:li:dataset:(urn:li:dataPlatform:${platform},${own},${fabric})`)
    let ordinary = 0
    fc.assert(
      fc.property(text, fc.constantFrom('', '"', ')', 'x'), (urn, behind) => {
        const bytes = Buffer.from(`..${urn}${behind}`)
        t.equal(endOfOrdinaryDataset(bytes, 2) === 2 + Buffer.byteLength(urn), isOrdinaryDataset(urn), urn)
        if (!isOrdinaryDataset(urn)) return
        ordinary += 1
        t.equal(parseUrn(urn).urn, urn)
        t.equal(entityTypeOf(urn), 'dataset')
      }),
      { numRuns: 3_000 }
    )
    t.ok(ordinary > 100)
  }
)

const reader = createPlainEdgeReader()
const anyBatch: fc.Arbitrary<{ texts: string[]; lines: number[] }> = fc
  .constantFrom(shapes, removalShapes)
  .chain((some) =>
    fc.array(
      fc.tuple(
        fc.constantFrom(...some),
        fc.constantFrom('a', 'b', 'ü', '😀'),
        fc.constantFrom('a', 'b', 'c'),
        fc.integer({ min: 1, max: 100_000 })
      ),
      { minLength: 1, maxLength: 20 }
    )
  )
  .map((edges) => ({
    texts: edges.map(([shape, up, down]) => shape(dataset(up), dataset(down))),
    lines: edges.map(([, , , line]) => line)
  }))

function noName(id: number): never {
  throw new Error(`asked for the URN of ${id}`)
}

function gather(texts: readonly string[], lines: readonly number[]): EdgeBatch {
  const gatherer = createEdgeGatherer()
  texts.forEach((text, at) => {
    const edge = reader(text, lines[at] ?? 0)
    if (!edge) throw new Error(`not read as a plain edge: ${text}`)
    gatherer.add(edge)
  })
  return gatherer.take().batch
}

t.test('a chunk of edges gives back each line as it was sent', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyBatch, async ({ texts, lines }) => {
      const payload = await packEdges(gather(texts, lines))
      t.ok(holdsEdges(payload))
      const edges = await unpackEdgesOnly(payload)
      t.same(
        edges && Array.from(edges.lines, (line, at) => ({ line, text: lineOfEdge(edges, at, noName) })),
        texts.map((text, at) => ({ line: lines[at], text }))
      )
      t.same(await unpackEdgesOnly(payload), gather(texts, lines))
      t.notOk(holdsEdges(await packLines(texts.map((text) => `1\t${text}\n`))))
    }),
    { numRuns: 100 }
  )
})

t.test('a chunk with edges between columns is of a kind that older workers do not know', async (t) => {
  const edges = JSON.stringify(edge('a', 'b'))
  const columns = JSON.stringify({
    upstreamUrn: schemaFieldUrn(parseUrn(dataset('a')).urn, 'x'),
    downstreamUrn: schemaFieldUrn(parseUrn(dataset('b')).urn, 'y')
  })
  // The bytes are stored, and older workers look at them: they must stay.
  t.equal((await packEdges(gather([edges], [1])))[0], 0xff)
  const payload = await packEdges(gather([edges, columns], [1, 2]))
  t.equal(payload[0], 0xe7)
  t.same(await unpackEdgesOnly(payload), gather([edges, columns], [1, 2]))
})

t.test('a chunk of edges that was damaged is unreadable', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      anyBatch,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      async ({ texts, lines }, place, by, isCut) => {
        const payload = await packEdges(gather(texts, lines))
        // The first byte distinguishes it from lines.
        const at = 1 + (place % (payload.length - 1))
        const damaged = Buffer.from(isCut ? payload.subarray(0, at) : payload)
        if (!isCut) damaged[at] = (damaged[at] ?? 0) ^ by
        await t.rejects(unpackEdgesOnly(damaged), UnreadableChunk)
      }
    ),
    { numRuns: 300 }
  )
  const batch = gather([JSON.stringify(edge('a', 'b'))], [1])
  for (const wrong of [
    { upstreams: Int32Array.of(2) },
    { downstreams: Int32Array.of(-(2 ** 31)) },
    { shapeOf: Int32Array.of(1) },
    { lines: Int32Array.of(1, 2) },
    { urns: new PackedUrns(Buffer.from(dataset('a'))) }
  ]) {
    await t.rejects(
      packEdges({ ...batch, ...wrong }).then(unpackEdgesOnly),
      UnreadableChunk,
      Object.keys(wrong).join()
    )
  }
})

t.test('a chunk that is collected after a larger one contains nothing of it', async (t) => {
  const gatherer = createEdgeGatherer()
  const names = ['a', 'b', 'c', 'd', 'e']
  const wanted = (count: number) => names.slice(1, 1 + count).map((name) => JSON.stringify(edge('a', name)))
  for (const count of [4, 2, 3]) {
    wanted(count).forEach((text, at) => {
      const plain = reader(text, at + 1)
      if (plain) gatherer.add(plain)
    })
    const { batch } = gatherer.take()
    t.same(
      Array.from(batch.lines, (_, at) => lineOfEdge(batch, at, noName)),
      wanted(count)
    )
  }
})

t.test('a load of edges', async (t) => {
  const bench = await withLoadBench(t)
  const names = ['a', 'b', 'c', 'd']
  await bench.submit(names.map(entity))
  await bench.drain()

  t.test('that cannot be read fails, however it is looked at, and can be cancelled', async (t) => {
    for (const isIsolated of [false, true]) {
      const id = await bench.submit([edge('a', 'b'), edge('b', 'c')])
      const [chunk] = await bench.chunks(id)
      // An isolated chunk that killed a worker is halved first.
      await bench.rows(
        "update chunk set payload = '\\xff01aabb'::bytea, is_isolated = ?::boolean, crashes = ?::int where id = ?",
        [isIsolated, isIsolated ? 1 : 0, chunk?.id ?? 0]
      )
      t.match(await bench.look(chunk?.id ?? 0), { outcome: 'failed' })
      t.match(await bench.load(id), { state: 'failed', error: /cannot be read/ })
      bench.told.length = 0
    }
  })

  t.test('is halved until its parts are single lines, and is applied all the same', async (t) => {
    for (const record of [edge, removal]) {
      const id = await bench.submit([record('a', 'b'), record('b', 'c'), record('c', 'd')])
      const [chunk] = await bench.chunks(id)
      await bench.rows('update chunk set is_isolated = true, crashes = 1 where id = ?', [chunk?.id ?? 0])
      t.match(await bench.look(chunk?.id ?? 0), { outcome: 'split' })
      t.same(
        (await bench.chunks(id)).filter((each) => each.hasPayload).map((each) => each.recordCount),
        [2, 1]
      )
      t.same(
        await bench.rows(
          'select record_count::int as count, get_byte(payload, 0) = 255 as "isOfEdges" from chunk where load_id = ?::uuid and payload is not null order by id',
          [id]
        ),
        [
          { count: 2, isOfEdges: true },
          { count: 1, isOfEdges: false }
        ]
      )
      await bench.drain()
      t.match(await bench.load(id), { state: 'done', counts: { received: 3, applied: 3, rejected: 0 } })
    }
  })

  t.test('that adds and removes has chunks of each, and may undo what older loads do', async (t) => {
    const id = await bench.submit([
      edge('a', 'b'),
      removal('a', 'b'),
      edge('b', 'c'),
      removal('c', 'd'),
      edge('a', 'b')
    ])
    t.match(await bench.chunks(id), [{ recordCount: 3 }, { recordCount: 2 }])
    t.same(await bench.rows('select is_destructive as "isDestructive" from load where id = ?::uuid', [id]), [
      { isDestructive: true }
    ])
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', counts: { received: 5, rejected: 0 } })
    t.same(
      await bench.rows('select line from statement join entity on entity.id = downstream_id where urn = ?', [
        dataset('b')
      ]),
      [{ line: 5 }],
      'the last line counts'
    )
  })

  t.test(
    'gives its refused lines back as they were sent, and applies them when they are tried again',
    async (t) => {
      const lines = [
        `{"op": "addEdge", "downstreamUrn": "${dataset('new')}", "upstreamUrn": "${dataset('d')}"}`,
        JSON.stringify(edge('d', 'a')),
        JSON.stringify(edge('new', 'a'))
      ]
      const id = await bench.submit(lines)
      await bench.drain()
      t.match(await bench.load(id), { state: 'done', counts: { applied: 1, rejected: 2 } })
      t.same(
        (await rejectsOf(bench, id)).map(({ line, code, record }) => ({ line, code, record })),
        [
          { line: 1, code: 'MISSING_REFERENCE', record: lines[0] },
          { line: 3, code: 'MISSING_REFERENCE', record: lines[2] }
        ]
      )
      await bench.submit([entity('new')])
      await bench.drain()
      await retryLoad(bench.db, bench.queue, admin, id)
      await bench.drain()
      t.match(await bench.load(id), { state: 'done', counts: { received: 3, applied: 3, rejected: 0 } })
    }
  )
})
