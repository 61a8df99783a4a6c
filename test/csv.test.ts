/**
 * CSV: rows from bytes that are cut anywhere; cells, headers and errors; output of an independent writer is
 * read back.
 */
import { deepStrictEqual, equal } from 'node:assert/strict'
import t from 'tap'
import { CatalogError } from '../shared/errors.ts'
import { printCells, splitCells } from '../shared/formats/csv-cells.ts'
import { parseCsvRecord } from '../shared/formats/csv.ts'
import { parseCsvHeader, printCsvHeader } from '../shared/formats/csv-header.ts'
import { recordParser } from '../shared/formats/parse-record.ts'
import { textOfEdge } from '../shared/formats/plain-edges.ts'
import type { RawRecord } from '../shared/formats/raw-record.ts'
import { openRecords, type SingleRecord } from '../shared/formats/read-records.ts'
import { splitCsv } from '../shared/formats/split-csv.ts'
import { limits } from '../shared/limits.ts'
import type { Change } from '../shared/model/changes.ts'
import { fc } from './support/fast-check.ts'
import { watchLiveMemory } from './support/live-memory.ts'
import { oneByOne } from './support/read-records.ts'
import { writeCsv } from './support/write-csv.ts'

const orders = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'
const customers = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.customers,PROD)'
const sales = 'urn:li:domain:sales'
const edgeRow = `"${orders}","${customers}"`

async function* cut(bytes: Buffer, sizes: Iterable<number>): AsyncGenerator<Buffer> {
  let start = 0
  for (const size of sizes) {
    if (start >= bytes.length) return
    yield bytes.subarray(start, start + size)
    start += size
  }
  if (start < bytes.length) yield bytes.subarray(start)
}

async function rowsOf(bytes: Buffer | string, sizes: Iterable<number> = []): Promise<RawRecord[]> {
  const rows: RawRecord[] = []
  for await (const piece of splitCsv(cut(Buffer.from(bytes), sizes))) for (const row of piece) rows.push(row)
  return rows
}

async function entriesOf(bytes: Buffer | string, sizes: Iterable<number> = []): Promise<SingleRecord[]> {
  const entries: SingleRecord[] = []
  for await (const piece of (await openRecords('csv', cut(Buffer.from(bytes), sizes))).records)
    entries.push(...oneByOne(piece))
  return entries
}

const changesOf = (entry: SingleRecord): Change[] => {
  if ('error' in entry) throw entry.error
  if ('document' in entry) throw new Error('a row of CSV is no document')
  return 'shape' in entry
    ? [{ kind: 'addEdge', upstreamUrn: entry.upstream, downstreamUrn: entry.downstream }]
    : entry.record.changes
}
const textOf = (entry: SingleRecord): string =>
  'shape' in entry ? textOfEdge(entry.shape, entry.upstream, entry.downstream) : entry.text

const shortly = (rows: RawRecord[]): string[] =>
  rows.map(({ line, text, fault }) => `${line} ${fault ? `${fault.code} ` : ''}${text}`)

t.test('a row of URNs without quotes says that they need them', async (t) => {
  const header = parseCsvHeader('upstream,downstream')
  t.throws(() => parseCsvRecord(header, `${orders},${customers}`, 2), {
    code: 'BAD_REQUEST',
    message: /The row has 6 cells, the header has 2; a URN with commas must be in double quotes/
  })
  t.throws(() => parseCsvRecord(header, 'a,b,c', 2), { message: /^The row has 3 cells, the header has 2$/ })
})

t.test('cells', async (t) => {
  t.test('are split as RFC 4180 says', async (t) => {
    const cases: [row: string, cells: string[]][] = [
      ['a,b', ['a', 'b']],
      ['', ['']],
      [',', ['', '']],
      ['a,', ['a', '']],
      ['"a"', ['a']],
      ['"a",', ['a', '']],
      ['"",""', ['', '']],
      ['"a,b","c""d",e', ['a,b', 'c"d', 'e']],
      ['"a\nb",c', ['a\nb', 'c']],
      ['""""', ['"']],
      [' a , b ', [' a ', ' b ']],
      ['ü,"🙂"', ['ü', '🙂']]
    ]
    for (const [row, cells] of cases) t.strictSame(splitCells(row), cells, row)
    for (const row of ['a"b', '"a"b', '"a" ,b', '"a', '"a""', ' "a"', '"a"b"c"'])
      t.throws(() => splitCells(row), { code: 'BAD_REQUEST' }, row)
  })

  t.test('are read back as they were printed, whatever they begin with', async (t) => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '"', ',', 'a', '\uff1d') })
    )
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 5 }), (cells) => {
        deepStrictEqual(splitCells(printCells(cells)), cells)
      }),
      { numRuns: 1_000 }
    )
    t.strictSame(
      ['=1', '+1', '-1', '@x', "'=1", "'a", 'a=1'].map((text) => printCells([text])),
      ["'=1", "'+1", "'-1", "'@x", "''=1", "'a", 'a=1'],
      'a formula has an apostrophe in front, and one that had it already has another'
    )
  })
})

t.test('a header', async (t) => {
  t.test('says what the rows are, in any case and by the names that are known', async (t) => {
    for (const header of [
      'upstream,downstream',
      'Upstream,DOWNSTREAM',
      'downstreamUrn,upstreamUrn',
      'upstream_urn,downstream_urn',
      'degree,upstream,downstream',
      ' upstream , downstream ',
      '"Upstream URN","Downstream URN"',
      'upstream,downstream,upstream_column,downstream_column'
    ]) {
      t.equal(parseCsvHeader(header).kind, 'edges', header)
    }
    for (const header of [
      'resource,domain',
      'entityUrn,domainUrn',
      'urn,domain',
      'degree,urn,type,name,platform,environment,domain,exists',
      'reject_line,reject_code,reject_field,reject_message,resource,domain'
    ]) {
      t.equal(parseCsvHeader(header).kind, 'domains', header)
    }
    t.strictSame(parseCsvHeader(printCsvHeader(parseCsvHeader(' upstream ,"downstream",DEGREE'))).names, [
      'upstream',
      'downstream',
      'DEGREE'
    ])
  })

  t.test('that cannot be read is refused with the column that is at fault', async (t) => {
    const cases: [header: string, field: string, says: RegExp][] = [
      ['a,b', 'a', /neither upstream and downstream.* nor resource and domain/],
      ['upstream;downstream', 'upstream;downstream', /separated by commas, not by ;/],
      ['upstream\tdownstream', 'upstream\tdownstream', /not by tabs/],
      ['upstream', 'downstream', /no column downstream/],
      ['downstream,degree', 'upstream', /no column upstream/],
      ['resource', 'domain', /no column domain/],
      ['upstream,downstream,resource,domain', 'resource', /of edges and of domains/],
      ['upstream,downstream,upstream', 'upstream', /twice/],
      ['upstream,downstream,upstreamUrn', 'upstreamUrn', /"upstream" and "upstreamUrn".* mean the same/],
      ['upstream,downstream,colour', 'colour', /"colour".*header is unknown/],
      ['upstream,downstream,', 'header', /Column 3 .*no name/],
      ['upstream,downstream,platform', 'platform', /header is unknown/],
      ['resource,domain,upstream_column', 'upstream_column', /header is unknown/],
      ['upstream,"downstream', 'header', /not a valid CSV row/]
    ]
    for (const [header, field, says] of cases) {
      t.match(
        t.throws(() => parseCsvHeader(header), CatalogError, header),
        { code: 'BAD_REQUEST', message: says, details: { field } }
      )
      await t.rejects(
        entriesOf(`${header}\n${edgeRow}\n`),
        { code: 'BAD_REQUEST' },
        'nothing of the body is read'
      )
    }
    t.match(
      t.throws(() => parseCsvHeader('upstream,downstream,colour')),
      {
        details: {
          allowed: [
            'upstream',
            'downstream',
            'upstream_column',
            'downstream_column',
            'degree',
            'reject_line',
            'reject_code',
            'reject_field',
            'reject_message'
          ]
        }
      }
    )
  })
})

t.test('rows', async (t) => {
  t.test('are numbered by the physical line on which they begin, whatever ends the line', async (t) => {
    const text = '\ufeff\r\nupstream,downstream\r\n\r\na,b\n"c\r\nd",e\n , ,\n,,\nf,"g\n\n"\r\nh,i'.slice(1)
    t.strictSame(shortly(await rowsOf(text)), [
      '2 upstream,downstream',
      '4 a,b',
      '5 "c\r\nd",e',
      '9 f,"g\n\n"',
      '12 h,i'
    ])
    t.strictSame(
      (await entriesOf(`\ufeff${text.slice(2)}`)).map(({ line }) => line),
      [3, 4, 8, 11],
      'a byte order mark is no part of the first line'
    )
    for (const empty of [
      '',
      '\n',
      '\r\n\r\n',
      '\ufeff',
      'upstream,downstream',
      'upstream,downstream\r\n,\r\n'
    ])
      t.strictSame(await entriesOf(empty), [], JSON.stringify(empty))
  })

  t.test('a quote that is not closed costs its own line', async (t) => {
    t.strictSame(shortly(await rowsOf('a,b\n"c,d\n"e","f"\ng,h\n')), [
      '1 a,b',
      '2 BAD_REQUEST "c,d',
      '3 "e","f"',
      '4 g,h'
    ])
    t.strictSame(shortly(await rowsOf('a,b\n"c","d\n"e","f"\n"g","h"')), [
      '1 a,b',
      '2 BAD_REQUEST "c","d',
      '3 "e","f"',
      '4 "g","h"'
    ])
    t.strictSame(shortly(await rowsOf('"a\nb\nc')), ['1 BAD_REQUEST "a', '2 b', '3 c'])
    t.strictSame(shortly(await rowsOf('"a\r\nb"c\n"d\ne","f')), [
      '1 BAD_REQUEST "a',
      '2 BAD_REQUEST b"c',
      '3 BAD_REQUEST "d',
      '4 e","f'
    ])
    const many = await rowsOf(
      `"open\n${`${edgeRow}\n`.repeat(20_000)}`,
      Array.from({ length: 5_000 }, () => 1_000)
    )
    t.equal(many.length, 20_001, 'however many rows follow')
    t.strictSame(
      many.filter(({ fault }) => fault).map(({ line }) => line),
      [1]
    )
  })

  t.test('a row over the limit is refused, and the next are read', async (t) => {
    const long = 'x'.repeat(limits.recordMaxBytes)
    const sizes = Array.from({ length: 5_000 }, () => 1_000)
    t.strictSame(
      (await rowsOf(`a,b\n${long}y\nc,d`, sizes)).map(({ line, fault }) => `${line} ${fault?.code}`),
      ['1 undefined', '2 LIMIT_EXCEEDED', '3 undefined']
    )
    t.strictSame(
      (await rowsOf(`a,b\n${long}y\nc,d`)).map(({ line, fault }) => `${line} ${fault?.code}`),
      ['1 undefined', '2 LIMIT_EXCEEDED', '3 undefined'],
      'also in one piece'
    )
    t.strictSame(
      (await rowsOf(`a,b\n${long}\nc,d`)).map(({ line, fault }) => `${line} ${fault?.code}`),
      ['1 undefined', '2 undefined', '3 undefined']
    )
    const lines = `"${'x'.repeat(100)}\n${`${'x'.repeat(127)}\n`.repeat(limits.recordMaxBytes / 128)}"\nc,d`
    t.strictSame(
      (await rowsOf(lines, sizes)).filter(({ fault }) => fault).map(({ line }) => line),
      [1, 8_194],
      'a row of many lines too: its first line is at fault, and the quote that was to close it'
    )
    const within = `"${'x\n'.repeat(9_998)}"\nc,d`

    t.strictSame(
      (
        await Promise.all(
          [within, `"x\n${within.slice(1)}`, `"x\nx\n${within.slice(1)}`].map((text) => rowsOf(text))
        )
      ).map((rows) => rows.length),
      [2, 2, 10_002],
      'a row has at most 10,000 lines'
    )
  })

  t.test('memory stays bounded while a row without end is read', async (t) => {
    const memory = watchLiveMemory()
    for (const [piece, pieces] of [
      [Buffer.alloc(64 * 1024, 'x'), 1_024],
      [Buffer.alloc(64 * 1024, '"'), 1_024],
      [Buffer.alloc(64 * 1024, 'x\n'), 4],
      [Buffer.alloc(64 * 1024, '"\n'), 4]
    ] as const) {
      let count = 0
      async function* endless(): AsyncGenerator<Buffer> {
        yield Buffer.from('upstream,downstream\n"')
        for (let index = 0; index < pieces; index += 1) {
          // A copy each time, as a socket gives them, so that retained memory is measured.
          yield Buffer.from(piece)
          if (index % 64 === 63) memory.look()
        }
      }
      let batches = 0
      for await (const entries of (await openRecords('csv', endless())).records) {
        count += entries.length
        if (batches++ % 16 === 0) memory.look()
      }
      t.ok(count > 0)
    }
    t.ok(memory.peakBytes() < 16 * 1024 * 1024)
  })

  t.test('only the row that is not UTF-8 is rejected', async (t) => {
    const rows = await rowsOf(
      Buffer.concat([Buffer.from('a,b\nc,'), Buffer.from([0xff]), Buffer.from('\nü,e\n')])
    )
    t.strictSame(
      rows.map(({ line, fault }) => `${line} ${fault?.code}`),
      ['1 undefined', '2 BAD_REQUEST', '3 undefined']
    )
    t.notOk(rows[1]?.text.isWellFormed())
    t.equal(rows[2]?.text, 'ü,e')
  })
})

t.test('records', async (t) => {
  const parse = (header: string, row: string): unknown =>
    recordParser({ format: 'csv', header }).parse(row, 7)

  t.test('are edges, between assets or columns', async (t) => {
    const edge = { kind: 'addEdge', upstreamUrn: orders, downstreamUrn: customers }
    t.strictSame(parse('upstream,downstream', edgeRow), { line: 7, changes: [edge] })
    t.strictSame(parse('degree,downstream,upstream', `1,"${customers}","${orders}"`), {
      line: 7,
      changes: [edge]
    })
    const columns = {
      kind: 'addEdge',
      upstreamUrn: `urn:li:schemaField:(${orders},id)`,
      downstreamUrn: `urn:li:schemaField:(${customers},order)`
    }
    t.strictSame(parse('upstream,downstream,upstream_column,downstream_column', `${edgeRow},id,order`), {
      line: 7,
      changes: [columns]
    })
    t.strictSame(parse('upstream,downstream,upstream_column,downstream_column', `${edgeRow},,`), {
      line: 7,
      changes: [edge]
    })
    t.strictSame(parse('upstream,downstream', `"${columns.upstreamUrn}","${columns.downstreamUrn}"`), {
      line: 7,
      changes: [columns]
    })
    t.strictSame(
      parse('upstream,downstream,downstream_column', `"${columns.upstreamUrn}","${customers}",order`),
      { line: 7, changes: [columns] }
    )
    const flow = 'urn:li:dataFlow:(airflow,nightly,prod)'
    t.strictSame(parse('upstream,downstream', `"${flow}","urn:li:dataJob:(${flow},load)"`), {
      line: 7,
      changes: []
    })
  })

  t.test('are domains; an empty one takes the asset out of its own', async (t) => {
    t.strictSame(parse('resource,domain', `"${orders}",${sales}`), {
      line: 7,
      changes: [{ kind: 'setDomain', entityUrn: orders, domainUrn: sales }]
    })
    t.strictSame(parse('resource,domain', `"${orders}",`), {
      line: 7,
      changes: [{ kind: 'unsetDomain', entityUrn: orders }]
    })
    t.strictSame(
      parse(
        'degree,urn,type,name,platform,environment,domain,exists',
        `1,"${orders}",DATASET,"'=1+1",,,${sales},true`
      ),
      { line: 7, changes: [{ kind: 'setDomain', entityUrn: orders, domainUrn: sales }] }
    )
  })

  t.test('that cannot be read name the column as it is in the header', async (t) => {
    const cases: [header: string, row: string, code: string, field: string][] = [
      ['upstream,downstream', 'a', 'BAD_REQUEST', 'header'],
      ['upstream,downstream', `${edgeRow},1`, 'BAD_REQUEST', 'header'],
      ['upstream,downstream', `x,"${orders}"`, 'INVALID_URN', 'upstream'],
      ['Upstream,Downstream Urn', `"${orders}",x`, 'INVALID_URN', 'Downstream Urn'],
      ['upstream,downstream', `"${orders}",`, 'INVALID_URN', 'downstream'],
      [
        'upstream,downstream',
        `"${orders}","${customers.slice(0, -1)}\u0007)"`,
        'INVALID_CHARACTER',
        'downstream'
      ],
      [
        'upstream,downstream',
        `"${orders}","urn:li:dataset:(urn:li:dataPlatform:hive,${'x'.repeat(2_000)},PROD)"`,
        'LIMIT_EXCEEDED',
        'downstream'
      ],
      [
        'upstream,downstream,upstream_column,downstream_column',
        `${edgeRow},id,(`,
        'INVALID_URN',
        'downstream_column'
      ],
      ['upstream,downstream,upstream_column', `x,"${customers}",id`, 'INVALID_URN', 'upstream'],
      ['upstream,downstream,upstream_column', `${edgeRow},id`, 'BAD_REQUEST', 'downstream_column'],
      [
        'Downstream Column,upstream,downstream,Upstream Column',
        `id,${edgeRow},`,
        'BAD_REQUEST',
        'Upstream Column'
      ],
      ['resource,domain', `${sales},${sales}`, 'BAD_REQUEST', 'resource'],
      ['asset,domainUrn', `"${orders}","${customers}"`, 'INVALID_URN', 'domainUrn']
    ]
    for (const [header, row, code, field] of cases) {
      const error = t.throws(() => parse(header, row), CatalogError, `${header} ${row.slice(0, 80)}`)
      t.match(error, { code, details: { field } }, `${header}: ${row.slice(0, 80)}`)
    }
    t.match(
      t.throws(() => parse('upstream,downstream', edgeRow.slice(0, -1))),
      { code: 'BAD_REQUEST' },
      'also where there is no column to name'
    )
    t.match(
      t.throws(() => parse('upstream,downstream', `"urn:li:dashboard:(looker,d)","${orders}"`)),
      { code: 'BAD_REQUEST', message: /No lineage leads/ }
    )
    t.match(
      t.throws(() => parse('upstream,downstream,upstream_column,downstream_column', `${edgeRow},id,`)),
      { message: /^upstream_column names a column, downstream_column does not/ },
      'a column at one end only'
    )
    t.equal(recordParser({ format: 'csv', header: 'entity_urn,Domain' }).fieldOf('domainUrn'), 'Domain')
    t.equal(recordParser({ format: 'csv', header: 'entity_urn,Domain' }).fieldOf('other'), 'other')
  })
})

const name = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom(',', '"', "'", ' ', '=', '-', '(', ')', '🙂', 'ü', '|'),
      fc.string({ unit: 'grapheme-composite', minLength: 1, maxLength: 1 })
    ),
    minLength: 1,
    maxLength: 12
  })
  .filter((text) => isBalanced(text) && text.trim() === text && isStorable(text))
const urn = fc.oneof(
  name.map((text) => `urn:li:dataset:(urn:li:dataPlatform:hive,${text},PROD)`),
  fc
    .integer({ min: 0, max: 30 })
    .map((number) => `urn:li:dataset:(urn:li:dataPlatform:hive,t${number},PROD)`),
  name.map((text) => `urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD),${text})`)
)

function isBalanced(text: string): boolean {
  let depth = 0
  for (const character of text) {
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (depth < 0) return false
  }
  return depth === 0
}

/** No control characters, and none that change the direction of text. */
const isStorable = (text: string): boolean => !/[\p{Cc}\u202a-\u202e\u2066-\u2069\u241f]/u.test(text)

const isPair = ([upstream, downstream]: [string, string]): boolean =>
  upstream.includes('schemaField') === downstream.includes('schemaField')

t.test('rows by an independent writer are read back, wherever the bytes are divided', async (t) => {
  const style = fc.record({
    newline: fc.constantFrom('\n', '\r\n'),
    quotes: fc.constantFrom<'needed' | 'all'>('needed', 'all'),
    mark: fc.boolean(),
    lastNewline: fc.boolean()
  })
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 100 })
  const note = fc.oneof(
    fc.constant(''),
    fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r\n', 'a', '=', "'") })
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.tuple(urn, urn).filter(isPair), note), { maxLength: 12 }),
      style,
      sizes,
      async (rows, how, cuts) => {
        const text = writeCsv(
          [
            ['upstream', 'downstream', 'reject_message'],
            ...rows.map(([[upstream, downstream], message]) => [upstream, downstream, message])
          ],
          how
        )
        const whole = await entriesOf(text)
        deepStrictEqual(
          whole.flatMap(changesOf),
          rows.map(([[upstreamUrn, downstreamUrn]]) => ({ kind: 'addEdge', upstreamUrn, downstreamUrn }))
        )
        const inPieces = await entriesOf(text, cuts)
        deepStrictEqual(
          inPieces.map((entry) => [entry.line, textOf(entry)]),
          whole.map((entry) => [entry.line, textOf(entry)])
        )
        deepStrictEqual(inPieces.flatMap(changesOf), whole.flatMap(changesOf))
        equal(new Set(whole.map(({ line }) => line)).size, rows.length, 'line numbers are unique')
      }
    ),
    { numRuns: 300 }
  )
  t.pass()
})

t.test('any text gives the same rows wherever its bytes are divided, and no row is lost', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r\n', 'a', '🙂', ' '), maxLength: 80 })
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 80 }),
      async (body, cuts) => {
        const whole = await rowsOf(body)
        deepStrictEqual(shortly(await rowsOf(body, cuts)), shortly(whole))
        const without = (each: string): string => each.replaceAll(/[\r\n]/g, '')
        const kept = whole.map((row) => without(row.text)).join('')
        equal(
          kept.replaceAll(/[\s,]/g, ''),
          body.replaceAll(/[\s,]/g, ''),
          'every character but blanks is in a row'
        )
        deepStrictEqual(
          whole.map(({ line }) => line),
          [...new Set(whole.map(({ line }) => line))].sort((a, b) => a - b),
          'lines are unique and in order'
        )
      }
    ),
    { numRuns: 1_000 }
  )
  t.pass()
})
