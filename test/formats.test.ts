/** Records of loads: read one by one from bytes that are cut anywhere, in bounded memory. */
import { deepStrictEqual } from 'node:assert/strict'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CatalogError } from '../shared/errors.ts'
import type { RecordFormat } from '../shared/formats/load-formats.ts'
import { recordParser } from '../shared/formats/parse-record.ts'
import { textOfEdge } from '../shared/formats/plain-edges.ts'
import { openRecords, type SentFormat } from '../shared/formats/read-records.ts'
import type { SingleRecord } from '../shared/formats/read-text.ts'
import { limits } from '../shared/limits.ts'
import type { JsonValue } from '../shared/model/changes.ts'
import { packageRoot } from '../shared/platform/paths.ts'
import { fc } from './support/fast-check.ts'
import { watchLiveMemory } from './support/live-memory.ts'
import { oneByOne } from './support/read-records.ts'
import { skipUnless } from './support/skip.ts'

const orders = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'
const customers = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.customers,PROD)'
const flow = 'urn:li:dataFlow:(airflow,nightly,prod)'
const job = `urn:li:dataJob:(${flow},load)`
const sales = 'urn:li:domain:sales'
const edge = { upstreamUrn: orders, downstreamUrn: customers }
const proposal = {
  entityType: 'dataset',
  entityUrn: orders,
  changeType: 'UPSERT',
  aspectName: 'status',
  aspect: { json: { removed: false } }
}
const snapshot = {
  proposedSnapshot: {
    'com.linkedin.pegasus2avro.metadata.snapshot.DatasetSnapshot': {
      urn: orders,
      aspects: [{ 'com.linkedin.pegasus2avro.common.Status': { removed: false } }]
    }
  }
}

async function* cut(bytes: Buffer, sizes: Iterable<number>): AsyncGenerator<Buffer> {
  let start = 0
  for (const size of sizes) {
    if (start >= bytes.length) return
    yield bytes.subarray(start, start + size)
    start += size
  }
  if (start < bytes.length) yield bytes.subarray(start)
}

async function readEntries(format: SentFormat, chunks: AsyncIterable<Buffer>): Promise<SingleRecord[]> {
  const entries: SingleRecord[] = []
  for await (const batch of (await openRecords(format, chunks)).records) entries.push(...oneByOne(batch))
  return entries
}

const readAll = (
  format: SentFormat,
  bytes: Buffer | string,
  sizes: Iterable<number> = []
): Promise<SingleRecord[]> => readEntries(format, cut(Buffer.from(bytes), sizes))

const parseRecord = (format: RecordFormat, text: string, line: number): unknown =>
  recordParser({ format, header: null }).parse(text, line)

/** The record as it was sent. */
const textOf = (entry: SingleRecord | undefined): string =>
  !entry ? '' : 'shape' in entry ? textOfEdge(entry.shape, entry.upstream, entry.downstream) : entry.text

/** Line and outcome of each entry, short enough to compare. */
const outcomes = (entries: SingleRecord[]): string[] =>
  entries.map(
    (entry) =>
      `${entry.line} ${'error' in entry ? entry.error.code : 'shape' in entry ? (entry.shape.isRemoval ? 'removeEdge' : 'addEdge') : 'document' in entry ? 'upsertAspect' : entry.record.changes.map((change) => change.kind).join()}`
  )

const read = (value: JsonValue): unknown => parseRecord('ndjson', JSON.stringify(value), 7)

t.test('the records of ndjson', async (t) => {
  t.test('each record becomes its changes', async (t) => {
    const cases: [record: JsonValue, changes: object[]][] = [
      [edge, [{ kind: 'addEdge', ...edge }]],
      [{ op: 'addEdge', ...edge, colour: 'red' }, [{ kind: 'addEdge', ...edge }]],
      [{ op: null, ...edge }, [{ kind: 'addEdge', ...edge }]],
      [{ op: 'removeEdge', ...edge }, [{ kind: 'removeEdge', ...edge }]],
      [{ upstreamUrn: flow, downstreamUrn: job }, []],
      [{ op: 'removeEdge', upstreamUrn: job, downstreamUrn: flow }, []],
      [
        { op: 'setDomain', entityUrn: orders, domainUrn: sales },
        [{ kind: 'setDomain', entityUrn: orders, domainUrn: sales }]
      ],
      [{ op: 'unsetDomain', entityUrn: orders }, [{ kind: 'unsetDomain', entityUrn: orders }]],
      [
        { op: 'createDomain', id: 'a b', name: ' Sales ' },
        [{ kind: 'createDomain', domainUrn: 'urn:li:domain:a b', name: 'Sales' }]
      ],
      [
        { op: 'createDomain', id: 'b', name: 'B', description: 'd\ne', parentDomain: sales },
        [
          {
            kind: 'createDomain',
            domainUrn: 'urn:li:domain:b',
            name: 'B',
            description: 'd\ne',
            parentDomain: sales
          }
        ]
      ],
      [
        { op: 'renameDomain', domainUrn: sales, name: ' Sold ' },
        [{ kind: 'renameDomain', domainUrn: sales, name: 'Sold' }]
      ],
      [
        { op: 'describeDomain', domainUrn: sales, description: '' },
        [{ kind: 'describeDomain', domainUrn: sales, description: '' }]
      ],
      [
        { op: 'moveDomain', domainUrn: sales, parentDomain: null },
        [{ kind: 'moveDomain', domainUrn: sales, parentDomain: null }]
      ],
      [
        { op: 'moveDomain', domainUrn: sales, parentDomain: 'urn:li:domain:b' },
        [{ kind: 'moveDomain', domainUrn: sales, parentDomain: 'urn:li:domain:b' }]
      ],
      [{ op: 'deleteDomain', domainUrn: sales }, [{ kind: 'deleteDomain', domainUrn: sales }]],
      [{ upstream: orders, downstream: customers, degree: 1 }, [{ kind: 'addEdge', ...edge }]],
      [{ op: 'removeEdge', upstream: orders, downstreamUrn: customers }, [{ kind: 'removeEdge', ...edge }]],
      [{ op: 'upsertEntity', urn: orders }, [{ kind: 'upsertEntity', entityUrn: orders }]],
      [
        { op: 'upsertEntity', urn: orders, name: 'Orders', description: null },
        [{ kind: 'upsertEntity', entityUrn: orders, name: 'Orders' }]
      ],
      [
        proposal,
        [
          {
            kind: 'upsertAspect',
            changeType: 'UPSERT',
            entityUrn: orders,
            aspectName: 'status',
            value: { removed: false }
          }
        ]
      ],
      [
        snapshot,
        [
          {
            kind: 'upsertAspect',
            changeType: 'UPSERT',
            entityUrn: orders,
            aspectName: 'status',
            value: { removed: false }
          }
        ]
      ]
    ]
    for (const [record, changes] of cases)
      t.strictSame(read(record), { line: 7, changes }, JSON.stringify(record).slice(0, 60))
  })

  t.test('a domain without id has the same one whenever its line is read', async (t) => {
    const first = read({ op: 'createDomain', name: 'Sales' })
    t.match(first, {
      changes: [
        { domainUrn: /^urn:li:domain:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/ }
      ]
    })
    t.strictSame(read({ op: 'createDomain', name: 'Sales', id: '' }), first)
    t.notSame(read({ op: 'createDomain', name: 'Sales', parentDomain: sales }), first)
  })

  t.test('what is no record is refused with its field', async (t) => {
    const cases: [record: JsonValue, code: string, field: string | undefined][] = [
      [[1, 2], 'BAD_REQUEST', undefined],
      ['x', 'BAD_REQUEST', undefined],
      [null, 'BAD_REQUEST', undefined],
      [{}, 'BAD_REQUEST', 'op'],
      [{ colour: 'red' }, 'BAD_REQUEST', 'op'],
      [{ op: 'explode' }, 'BAD_REQUEST', 'op'],
      [{ op: 'toString' }, 'BAD_REQUEST', 'op'],
      [{ op: 7, ...edge }, 'BAD_REQUEST', 'op'],
      [{ upstreamUrn: orders }, 'INVALID_URN', 'downstreamUrn'],
      [{ ...edge, upstreamUrn: 'orders' }, 'INVALID_URN', 'upstreamUrn'],
      [{ op: 'removeEdge', ...edge, upstreamUrn: 'urn:li:dashboard:(looker,d)' }, 'BAD_REQUEST', undefined],
      [{ op: 'setDomain', entityUrn: orders }, 'INVALID_URN', 'domainUrn'],
      [{ op: 'setDomain', entityUrn: orders, domainUrn: customers }, 'INVALID_URN', 'domainUrn'],
      [{ op: 'setDomain', entityUrn: sales, domainUrn: sales }, 'BAD_REQUEST', 'entityUrn'],
      [{ op: 'unsetDomain' }, 'INVALID_URN', 'entityUrn'],
      [{ op: 'createDomain', id: 'x' }, 'BAD_REQUEST', 'name'],
      [{ op: 'createDomain', name: ' ' }, 'BAD_REQUEST', 'name'],
      [{ op: 'createDomain', name: 7 }, 'BAD_REQUEST', 'name'],
      [{ op: 'createDomain', name: 'x'.repeat(256) }, 'LIMIT_EXCEEDED', 'name'],
      [{ op: 'createDomain', name: 'x', id: 'a\nb' }, 'INVALID_CHARACTER', 'id'],
      [{ op: 'createDomain', name: 'x', parentDomain: orders }, 'INVALID_URN', 'parentDomain'],
      [{ op: 'createDomain', name: 'x', description: 'x'.repeat(65_537) }, 'LIMIT_EXCEEDED', 'description'],
      [{ upstream: 'x', downstream: orders }, 'INVALID_URN', 'upstream'],
      [{ ...edge, upstream: orders }, 'BAD_REQUEST', 'upstream'],
      [{ op: 'renameDomain', domainUrn: sales }, 'BAD_REQUEST', 'name'],
      [{ op: 'renameDomain', domainUrn: orders, name: 'x' }, 'INVALID_URN', 'domainUrn'],
      [{ op: 'describeDomain', domainUrn: sales, description: 7 }, 'BAD_REQUEST', 'description'],
      [{ op: 'moveDomain', domainUrn: sales }, 'BAD_REQUEST', 'parentDomain'],
      [{ op: 'moveDomain', domainUrn: sales, parentDomain: orders }, 'INVALID_URN', 'parentDomain'],
      [{ op: 'deleteDomain' }, 'INVALID_URN', 'domainUrn'],
      [{ op: 'upsertEntity' }, 'INVALID_URN', 'urn'],
      [{ op: 'upsertEntity', urn: sales }, 'BAD_REQUEST', 'urn'],
      [{ op: 'upsertEntity', urn: `urn:li:schemaField:(${orders},id)` }, 'BAD_REQUEST', 'urn'],
      [{ op: 'upsertEntity', urn: orders, name: ['x'] }, 'BAD_REQUEST', 'name'],
      [{ op: 'upsertEntity', urn: orders, name: 'a\u0000b' }, 'INVALID_CHARACTER', 'name'],
      [{ ...proposal, entityType: 'chart' }, 'BAD_REQUEST', 'entityType'],
      [{ ...proposal, aspect: { json: { removed: 'x' } } }, 'VALIDATION_FAILED', 'aspect.removed']
    ]
    for (const [record, code, field] of cases) {
      const error = t.throws(() => read(record), CatalogError, JSON.stringify(record).slice(0, 80))
      t.match(error, { code })
      t.equal(error instanceof CatalogError ? error.details.field : '', field)
    }
    t.match(
      t.throws(() => read({ op: 'explode' })),
      {
        details: {
          allowed: [
            'addEdge',
            'removeEdge',
            'setDomain',
            'unsetDomain',
            'createDomain',
            'renameDomain',
            'describeDomain',
            'moveDomain',
            'deleteDomain',
            'upsertEntity'
          ]
        }
      }
    )
    t.throws(() => parseRecord('ndjson', '{"__proto__": {}}', 1), {
      code: 'BAD_REQUEST',
      message: /The record contains a key that is not allowed: __proto__/
    })
    t.throws(() => recordParser({ format: 'yaml', header: null }), { code: 'UNSUPPORTED' })
  })

  t.test('64 levels are accepted, 65 are not; an aspect has 64 of its own', async (t) => {
    const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const aspect = (levels: number): string =>
      JSON.stringify({ ...proposal, aspectName: 'moonPhase', aspect: { json: { a: 0 } } }).replace(
        '"a":0',
        `"a":${deep(levels)}`
      )
    t.doesNotThrow(() =>
      parseRecord('ndjson', `{"op":"unsetDomain","entityUrn":"${orders}","deep":${deep(63)}}`, 1)
    )
    t.throws(
      () => parseRecord('ndjson', `{"op":"unsetDomain","entityUrn":"${orders}","deep":${deep(64)}}`, 1),
      { code: 'LIMIT_EXCEEDED', details: { limit: 'jsonMaxDepth' } }
    )
    t.doesNotThrow(() => parseRecord('mcp', aspect(63), 1))
    t.throws(() => parseRecord('mcp', aspect(64), 1), {
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'jsonMaxDepth' }
    })
    t.throws(() => parseRecord('ndjson', deep(500_000), 1), { code: 'BAD_REQUEST' })
  })
})

t.test('lines', async (t) => {
  const line = JSON.stringify(edge)

  t.test('a byte order mark, CRLF, blank lines and a missing last newline are read', async (t) => {
    t.same(outcomes(await readAll('ndjson', `\ufeff${line}\r\n\r\n  \t\n${line}\n\n${line}`)), [
      '1 addEdge',
      '4 addEdge',
      '6 addEdge'
    ])
    t.same(outcomes(await readAll('ndjson', `\ufeff\n${line}\n`)), ['2 addEdge'])
    for (const empty of ['', '\n', '\ufeff', ' \r\n\n', '\ufeff\n'])
      t.same(await readAll('ndjson', empty), [])
  })

  t.test('a bad line is an entry with its error, and the next is read', async (t) => {
    const invalid = Buffer.concat([
      Buffer.from(`${line}\n{"op":"unsetDomain","entityUrn":"`),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from(`"}\n${line}\n{"op":\n[1]\n\u0000\n${line}`)
    ])
    const entries = await readAll('ndjson', invalid)
    t.same(outcomes(entries), [
      '1 addEdge',
      '2 BAD_REQUEST',
      '3 addEdge',
      '4 BAD_REQUEST',
      '5 BAD_REQUEST',
      '6 BAD_REQUEST',
      '7 addEdge'
    ])
    t.notOk(textOf(entries[1]).isWellFormed(), 'what is no UTF-8 cannot pass for a text that was sent')
    t.equal(textOf(entries[3]), '{"op":')
  })

  t.test('a line at the limit is read, one over it is refused without being held', async (t) => {
    const fill = (bytes: number): string =>
      JSON.stringify({ op: 'unsetDomain', entityUrn: orders, pad: '' }).replace(
        '"pad":""',
        `"pad":"${'x'.repeat(bytes - JSON.stringify({ op: 'unsetDomain', entityUrn: orders, pad: '' }).length)}"`
      )
    const sizes = Array.from({ length: 5000 }, () => 1000)
    t.same(
      outcomes(await readAll('ndjson', `${fill(limits.recordMaxBytes)}\r\n${line}`.replace('\r', ''), sizes)),
      ['1 unsetDomain', '2 addEdge']
    )
    const entries = await readAll('ndjson', `${line}\n${fill(limits.recordMaxBytes + 1)}\n${line}`, sizes)
    t.same(outcomes(entries), ['1 addEdge', '2 LIMIT_EXCEEDED', '3 addEdge'])
    const [, tooLong] = entries
    t.match(tooLong, {
      error: {
        details: {
          limit: 'recordMaxBytes',
          maximum: limits.recordMaxBytes,
          actual: limits.recordMaxBytes + 1
        }
      }
    })
    t.ok(
      tooLong &&
        textOf(tooLong).length > limits.rejectRecordMaxBytes &&
        textOf(tooLong).length < 2 * limits.rejectRecordMaxBytes,
      'its begin is kept, longer than a reject keeps'
    )
  })

  t.test('memory stays bounded while a line of 256 MiB is read', async (t) => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    async function* endless(): AsyncGenerator<Buffer> {
      for (let index = 0; index < 4096; index += 1) {
        // A copy each time, as a socket gives them, so that retained memory is measured.
        yield Buffer.from(chunk)
        if (index % 256 === 255) memory.look()
      }
      yield Buffer.from(`\n${line}\n`)
    }
    const memory = watchLiveMemory()
    const entries = await readEntries('ndjson', endless())
    t.same(outcomes(entries), ['1 LIMIT_EXCEEDED', '2 addEdge'])
    t.ok(memory.peakBytes() < 16 * 1024 * 1024)
  })

  t.test('mcp may come in lines', async (t) => {
    const bytes = Buffer.from(`\ufeff\n${JSON.stringify(proposal)}\n${line}\n${JSON.stringify(snapshot)}`)
    const expected = ['2 upsertAspect', '3 BAD_REQUEST', '4 upsertAspect']
    t.same(outcomes(await readAll('mcp', bytes)), expected)
    t.same(
      outcomes(
        await readAll(
          'mcp',
          bytes,
          Array.from(bytes, () => 1)
        )
      ),
      expected
    )
  })
})

t.test('arrays', async (t) => {
  const element = JSON.stringify(proposal)

  t.test('elements are numbered from 1, however the array is written', async (t) => {
    for (const text of [
      `[${element},${element}]`,
      `\ufeff \n[\n  ${element} ,\r\n ${JSON.stringify(proposal, null, 2)}\n]\n  `
    ]) {
      t.same(outcomes(await readAll('mcp', text)), ['1 upsertAspect', '2 upsertAspect'])
    }
    t.same(await readAll('mcp', '[]'), [])
    t.same(await readAll('mcp', ' [ \n ] '), [])
    t.same(await readAll('mcp', ''), [])
  })

  t.test('brackets, commas and escaped quotes in texts do not end an element', async (t) => {
    const tricky = JSON.stringify({
      ...proposal,
      aspectName: 'moonPhase',
      aspect: { json: { 'a"],[{\\': '\\"]},{"[\\\\', b: [[], {}, [{ c: '🙂"' }]] } }
    })
    t.same(outcomes(await readAll('mcp', `[${tricky},${tricky}]`)), ['1 upsertAspect', '2 upsertAspect'])
  })

  t.test('a bad element is an entry with its error, and the next is read', async (t) => {
    const text = `[${element}, 7, null, "x,]", {"a": 1 "b"}, , {"entityType": }, [${element}], ${element}, ]`
    t.same(outcomes(await readAll('mcp', text)), [
      '1 upsertAspect',
      ...[2, 3, 4, 5, 6, 7, 8].map((line) => `${line} BAD_REQUEST`),
      '9 upsertAspect',
      '10 BAD_REQUEST'
    ])
    const invalid = Buffer.concat([
      Buffer.from('[{"entityType":"'),
      Buffer.from([0xff]),
      Buffer.from(`"},${element}]`)
    ])
    t.same(outcomes(await readAll('mcp', invalid)), ['1 BAD_REQUEST', '2 upsertAspect'])
    const tooLong = `[${element},{"a":"${'x,]}'.repeat(limits.recordMaxBytes / 4)}"},${element}]`
    t.same(
      outcomes(
        await readAll(
          'mcp',
          tooLong,
          Array.from({ length: 5000 }, () => 1000)
        )
      ),
      ['1 upsertAspect', '2 LIMIT_EXCEEDED', '3 upsertAspect']
    )
  })

  t.test('an array without end, or with something after it, is refused whole', async (t) => {
    for (const text of [
      '[',
      `[${element}`,
      `[${element},`,
      `[${element},{"a":"`,
      `[${element}]]`,
      `[${element}] ${element}`,
      `[${element},{]`
    ])
      await t.rejects(readAll('mcp', text), { code: 'BAD_REQUEST' }, text.slice(0, 20))
  })
})

t.test('the records are the same wherever the bytes are cut', async (t) => {
  const text = fc.string({ unit: 'grapheme', maxLength: 10 })
  const record = fc.oneof(
    fc.constant(JSON.stringify(edge)),
    text.map((description) => JSON.stringify({ op: 'upsertEntity', urn: orders, description })),
    text.map((value) =>
      JSON.stringify({
        ...proposal,
        aspectName: 'moonPhase',
        aspect: { json: { value, list: [value, { value }] } }
      })
    ),
    fc.constant('{"op":'),
    fc.constant('{"entityType": "ü'.concat('🙂"}'))
  )
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 200 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n', '\n\n'),
      sizes,
      async (records, newline, cuts) => {
        const bytes = Buffer.from(`\ufeff${records.join(newline)}`)
        return (
          JSON.stringify(await readAll('ndjson', bytes, cuts)) ===
          JSON.stringify(await readAll('ndjson', bytes))
        )
      }
    ),
    { numRuns: 300 }
  )
  const whole = fc.oneof(
    fc.json(),
    text.map((value) =>
      JSON.stringify({ ...proposal, aspectName: 'moonPhase', aspect: { value: JSON.stringify({ value }) } })
    )
  )
  await fc.assert(
    fc.asyncProperty(fc.array(whole, { minLength: 1, maxLength: 8 }), sizes, async (elements, cuts) => {
      const bytes = Buffer.from(` [${elements.join(' ,\n')}]\n`)
      const cutUp = await readAll('mcp', bytes, cuts)
      return (
        JSON.stringify(cutUp) === JSON.stringify(await readAll('mcp', bytes)) &&
        JSON.stringify(cutUp.map(textOf)) === JSON.stringify(elements.map((entry) => entry.trim()))
      )
    }),
    { numRuns: 300 }
  )
  t.pass()
})

t.test('files of real connectors are read without a fault', async (t) => {
  const folder = join(process.env.TRIBUTARY_TEST_DATA ?? join(packageRoot, '..', 'shared', 'data'), 'mcp')
  if (skipUnless(t, existsSync(folder), 'no folder of real data: set TRIBUTARY_TEST_DATA')) return
  for (const [file, count] of [
    ['dbt.json', 122],
    ['snowflake.json', 219],
    ['tableau.json', 544]
  ] as const) {
    const entries = await readEntries('mcp', createReadStream(join(folder, file), { highWaterMark: 1000 }))
    t.equal(entries.length, count, file)
    t.same(
      entries.filter((entry) => 'error' in entry),
      [],
      file
    )
    t.equal(entries.at(-1)?.line, count)
  }
})

const pretty = (value: JsonValue): string => JSON.stringify(value, null, 2)

t.test('JSON that is not in lines', async (t) => {
  const records: JsonValue[] = [
    edge,
    { op: 'removeEdge', ...edge },
    { op: 'setDomain', entityUrn: orders, domainUrn: sales },
    { op: 'createDomain', name: 'Sales [EU], "a"' },
    { op: 'upsertEntity', urn: orders, name: '}{' },
    { upstream: orders, downstream: customers },
    proposal,
    { ...edge, upstreamUrn: 'orders' },
    { line: 7, code: 'BAD_REQUEST', record: JSON.stringify(edge) }
  ]
  const expected = outcomes(await readAll('ndjson', records.map((each) => JSON.stringify(each)).join('\n')))
  const layouts: [name: string, text: string][] = [
    ['an array in one line', JSON.stringify(records)],
    ['an array over several lines', pretty(records)],
    ['an array with an element a line', `[\n${records.map((each) => JSON.stringify(each)).join(',\n')}\n]`],
    ['objects over several lines', records.map(pretty).join('\n')],
    ['objects over several lines, with CRLF', records.map(pretty).join('\n\n').replaceAll('\n', '\r\n')]
  ]

  t.test('is read as the same records, numbered by object, wherever it is cut', async (t) => {
    t.equal(expected[0], '1 addEdge')
    for (const [name, text] of layouts)
      for (const sent of [
        'ndjson',
        ['ndjson', 'mcp', 'openlineage', 'dbt'],
        ['ndjson', 'openlineage']
      ] as const)
        for (const size of [1, 7, 100_000]) {
          const opened = await openRecords(
            sent,
            cut(
              Buffer.from(text),
              Array.from(text, () => size)
            )
          )
          t.equal(opened.format, 'ndjson', name)
          const entries: SingleRecord[] = []
          for await (const batch of opened.records) entries.push(...oneByOne(batch))
          t.same(outcomes(entries), expected, `${name} ${size}`)
        }
    const [, text = ''] = layouts[1] ?? []
    const entries = await readAll('ndjson', text)
    t.match(entries[0], { shape: { isRemoval: false } }, 'edges take the fast path')
    t.equal(textOf(entries[0]), JSON.stringify([edge], null, 2).slice(4, -2), 'and are given back as sent')
  })

  t.test('is recognised by its first object', async (t) => {
    const formatOf = async (text: string): Promise<string> =>
      (await openRecords(['ndjson', 'csv', 'mcp', 'openlineage', 'dbt'], cut(Buffer.from(text), []))).format
    const event = { eventTime: '2026-01-01T00:00:00Z', producer: 'x', run: {}, job: {} }
    for (const write of [
      (value: JsonValue) => JSON.stringify([value]),
      (value: JsonValue) => pretty([value]),
      pretty
    ]) {
      t.equal(await formatOf(write(edge)), 'ndjson')
      t.equal(await formatOf(write({ op: 'unsetDomain', entityUrn: orders })), 'ndjson')
      t.equal(await formatOf(write({ op: 'x', entityType: 'y' })), 'ndjson')
      t.equal(await formatOf(write(proposal)), 'mcp')
      t.equal(await formatOf(write(snapshot)), 'mcp')
      t.equal(await formatOf(write(event)), 'openlineage')
    }
    for (const text of ['[]', '[7]', '[{}]', '{\n}']) t.equal(await formatOf(text), 'ndjson', text)
  })

  t.test('that wraps its records is refused with what to send', async (t) => {
    const wrapped: [value: JsonValue, name: string][] = [
      [{ edges: [edge] }, 'edges'],
      [{ records: [edge, edge], count: 2 }, 'records'],
      [{ data: [] }, 'data'],
      [{ proposals: [proposal] }, 'proposals']
    ]
    for (const [value, name] of wrapped)
      for (const text of [JSON.stringify(value), pretty(value), JSON.stringify(value).replace('[', ' [\n')])
        for (const sent of ['ndjson', 'mcp', ['ndjson', 'mcp', 'openlineage', 'dbt']] as const)
          await t.rejects(readAll(sent, text), {
            code: 'BAD_REQUEST',
            message: `The body is an object around records: send the array in "${name}" itself, or one record per line`,
            details: { field: name }
          })
    t.same(
      outcomes(await readAll('ndjson', `{"colour": ["red"], "op": "unsetDomain", "entityUrn": "${orders}"}`)),
      ['1 unsetDomain']
    )
  })

  t.test('that is cut off, or has text between objects, is refused whole', async (t) => {
    const object = pretty(edge)
    for (const [text, says] of [
      [object.slice(0, -1), /no end/],
      [`${object}\n{\n "a": "}`, /no end/],
      [`${object},\n${object}`, /text between the objects/],
      [`${object}\nupstream`, /text between the objects/],
      [`${object}]`, /text between/],
      [`[${object}`, /no end/],
      [`[${object}]${object}`, /after the end of the array/]
    ] as const)
      await t.rejects(readAll('ndjson', text), { code: 'BAD_REQUEST', message: says }, text)
    t.same(
      outcomes(await readAll('ndjson', `{\n"a": }\n${object}`)),
      ['1 BAD_REQUEST', '2 addEdge'],
      'a bad object is an entry with its error'
    )
  })

  t.test('any text gives the same entries or the same refusal, wherever it is cut', async (t) => {
    const made = async (text: string, sizes: readonly number[]): Promise<string[] | string> => {
      try {
        return outcomes(await readAll('ndjson', text, sizes))
      } catch (error) {
        if (error instanceof CatalogError) return error.message
        throw error
      }
    }
    const unit = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ',',
      '\n',
      ' ',
      JSON.stringify(edge),
      '"a":1',
      '🙂'
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('', '[', '{\n'),
        fc.string({ unit, maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 60 }),
        async (begin, text, sizes) => {
          deepStrictEqual(await made(begin + text, sizes), await made(begin + text, []))
        }
      ),
      { numRuns: 500 }
    )
    t.pass()
  })
})

t.test('UTF-16 with a byte order mark reads as UTF-8, as Excel and PowerShell write it', async (t) => {
  const inUtf16 = (text: string, isBig: boolean): Buffer => {
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
    return isBig ? bytes.swap16() : bytes
  }
  const rows = `From\tTo\tNote\r\n"${orders}"\t${customers}\tü 🙂\r\n`
  for (const isBig of [false, true]) {
    for (const sizes of [[], [1, 1, 1, 1, 1, 1, 1], Array.from({ length: 500 }, () => 3)]) {
      t.same(outcomes(await readAll('csv', inUtf16(rows, isBig), sizes)), ['2 addEdge'])
      t.same(outcomes(await readAll(['ndjson', 'csv'], inUtf16(rows, isBig), sizes)), ['2 addEdge'])
      t.same(outcomes(await readAll('ndjson', inUtf16(`${JSON.stringify(edge)}\r\n`, isBig), sizes)), [
        '1 addEdge'
      ])
      t.same(outcomes(await readAll('ndjson', inUtf16(JSON.stringify([edge]), isBig), sizes)), ['1 addEdge'])
    }
    t.same(await readAll('csv', inUtf16('', isBig)), [])
  }
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !text.startsWith('\ufeff')),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 30 }),
      async (text, isBig, sizes) => {
        const body = `source;target;note\n${text.replaceAll(/[\r\n"]/g, '')}`
        deepStrictEqual(await readAll('csv', inUtf16(body, isBig), sizes), await readAll('csv', body))
      }
    ),
    { numRuns: 200 }
  )
  for (const [bytes, says] of [
    [Buffer.from(rows, 'utf16le'), /UTF-16 without a byte order mark: save it in UTF-8/],
    [Buffer.from(rows, 'utf16le').swap16(), /UTF-16 without a byte order mark/],
    [
      Buffer.concat([inUtf16(rows, false), Buffer.from([0x00, 0xd8, 0x61, 0x00])]),
      /not valid UTF-16.*save it in UTF-8/
    ],
    [inUtf16(rows, false).subarray(0, -1), /not valid UTF-16/],
    [Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), /UTF-32/]
  ] as const)
    for (const sizes of [[], [1, 1, 1, 1, 1]])
      await t.rejects(readAll('csv', bytes, sizes), { code: 'BAD_REQUEST', message: says })
})

t.test('the arrays in the docs are read without rejects', async (t) => {
  const page = readFileSync(join(packageRoot, 'docs/loading.md'), 'utf8')
  const arrays = [...page.matchAll(/^```json\n(\[[^]*?)\n```$/gm)].map(([, json = '']) => json)
  t.equal(arrays.length, 1)
  for (const json of arrays)
    t.same(outcomes(await readAll(['ndjson', 'mcp'], json)), ['1 upsertEntity', '2 addEdge'])
})
