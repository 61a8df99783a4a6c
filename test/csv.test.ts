/**
 * CSV: rows from bytes that are cut anywhere; cells, headers and errors; output of an independent writer is
 * read back.
 */
import { deepStrictEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CatalogError } from '../shared/errors.ts'
import { printCells, separators, splitCells } from '../shared/formats/csv-cells.ts'
import { parseCsvRecord } from '../shared/formats/csv.ts'
import { ignoredColumns, parseCsvHeader, printCsvHeader } from '../shared/formats/csv-header.ts'
import { createPlainCsvReader } from '../shared/formats/plain-csv-edges.ts'
import { recordParser } from '../shared/formats/parse-record.ts'
import { textOfEdge } from '../shared/formats/plain-edges.ts'
import type { RawRecord } from '../shared/formats/raw-record.ts'
import { openRecords } from '../shared/formats/read-records.ts'
import type { NamingRecord, SingleRecord } from '../shared/formats/read-text.ts'
import { openCsvRows } from '../shared/formats/split-csv.ts'
import { limits } from '../shared/limits.ts'
import type { Change } from '../shared/model/changes.ts'
import { packageRoot } from '../shared/platform/paths.ts'
import { readDatasetName, urnOfDatasetName } from '../shared/urn/dataset-name.ts'
import { knownPlatform } from '../shared/urn/platforms.ts'
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
  for await (const piece of (await openCsvRows(cut(Buffer.from(bytes), sizes))).rows)
    for (const row of piece) rows.push(row)
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
      'degree,urn,type,name,platform,environment,domain,exists,owners',
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

  t.test('has the names that people give to columns, and the separators of their spreadsheets', async (t) => {
    for (const [header, separator, places] of [
      ['source,target', ',', { upstream: 0, downstream: 1 }],
      ['To;From', ';', { upstream: 1, downstream: 0 }],
      ['upstream_table\tdownstream_table', '\t', { upstream: 0, downstream: 1 }],
      ['Upstream Dataset|Downstream Dataset', '|', { upstream: 0, downstream: 1 }],
      ['"source-table";"target-table";;', ';', { upstream: 0, downstream: 1 }],
      [',parent,child', ',', { upstream: 1, downstream: 2 }],
      ['input;output;notes, and more', ';', { upstream: 0, downstream: 1 }],
      [
        'source_table,source_column,target_table,target_column',
        ',',
        { upstream: 0, upstreamColumn: 1, downstream: 2, downstreamColumn: 3 }
      ],
      ['from_column;to_column;from;to', ';', { upstream: 2, upstreamColumn: 0, downstreamColumn: 1 }],
      ['sep=;\nsrc;dst', ';', { upstream: 0, downstream: 1 }],
      ['sep=\t\nFrom Table\tTo Table', '\t', { upstream: 0, downstream: 1 }],
      ['"sep=|"||\nsource|destination', '|', { upstream: 0, downstream: 1 }],
      ['SEP=,\r\nupstream,"downstream"', ',', { upstream: 0, downstream: 1 }],
      ['Table;Domain', ';', { resource: 0, domain: 1 }],
      ['domain name\tdataset_urn', '\t', { resource: 1, domain: 0 }]
    ] as const) {
      const parsed = parseCsvHeader(header)
      t.match(parsed, { separator, places }, header)
      t.strictSame(parseCsvHeader(printCsvHeader(parsed)), parsed, 'as it is stored')
    }
    t.throws(() => parseCsvHeader(`from,to${',a'.repeat(limits.csvColumnsMaxCount)}`), {
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'csvColumnsMaxCount', actual: limits.csvColumnsMaxCount + 2 }
    })
    const widest = `from,to${',a'.repeat(limits.csvColumnsMaxCount - 2)}`
    t.equal(
      parseCsvHeader(`reject_line,reject_code,reject_field,reject_message,${widest}`).places.upstream,
      4,
      'its rejects can be sent again'
    )
    for (const header of ['upstream;downstream', 'source,target', 'from\tto'])
      t.equal(printCsvHeader(parseCsvHeader(header)), header, 'an older worker refuses it')
    t.equal(
      printCsvHeader(parseCsvHeader('upstream;downstream;"a,type,name,exists"')),
      'sep=;\nupstream;downstream;a,type,name,exists'
    )
  })

  t.test('tells which columns a load ignores', async (t) => {
    for (const [header, ignored] of [
      ['upstream,downstream,degree,reject_message', []],
      ['degree,urn,type,name,platform,environment,domain,exists,owners', []],
      ['source,target,Notes,owner', ['Notes', 'owner']],
      [',source,target', ['column 1']],
      ['source,target,total,kind', ['total', 'kind']],
      ['source;;target;;', ['column 2']],
      ['upstream,downstream,name,token,notes,notes', ['name', 'token', 'notes', 'notes']],
      [`from,to,${'x'.repeat(70)}`, [`${'x'.repeat(60)}…`]]
    ] as const)
      t.strictSame(ignoredColumns(parseCsvHeader(header)), ignored, header)
    t.equal(ignoredColumns(parseCsvHeader(`from,to${',a'.repeat(500)}`)).length, 100)
  })

  t.test('that cannot be read is refused with the column that is at fault', async (t) => {
    const cases: [header: string, field: string, says: RegExp][] = [
      ['a,b', 'a', /neither upstream and downstream.* nor resource and domain/],
      ['upstream', 'downstream', /no column downstream/],
      ['downstream,degree', 'upstream', /no column upstream/],
      ['resource', 'domain', /no column domain/],
      [
        'upstream,downstream,resource,domain',
        'resource',
        /of edges \("upstream", "downstream"\) and of domains \("resource", "domain"\)/
      ],
      ['source,target,domain', 'domain', /only one of the two/],
      ['urn,domain,parent', 'urn', /of edges \("parent"\) and of domains \("urn", "domain"\)/],
      ['upstream,downstream,upstream', 'upstream', /twice/],
      ['upstream,downstream,upstreamUrn', 'upstreamUrn', /"upstream" and "upstreamUrn".* mean the same/],
      ['source,target,from', 'from', /"source" and "from".* mean the same; the name of who states/],
      ['upstream,downstream,source', 'source', /mean the same; .*is the parameter source, not a column/],
      ['Upstream Table,to,Upstream_Urn', 'Upstream_Urn', /mean the same$/],
      [
        'source_schema,source_table,target_table',
        'source_schema',
        /unknown, and may change what a row means/
      ],
      ['from,to,columns', 'columns', /may change what a row means/],
      ['sourceschema,sourcetable,targettable', 'sourceschema', /may change/],
      ['source,source2,target', 'source2', /may change/],
      ['from,to,Is_Deleted', 'Is_Deleted', /may change/],
      ['upstream,downstream,op', 'op', /may change/],
      ['upstream,downstream,upstreamColum', 'upstreamColum', /may change/],
      ['sep=:\nupstream:downstream', 'header', /"?:"?; use a comma, semicolon, tab or \|/],
      ['resource,domain,upstream_column', 'upstream_column', /may change/],
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
      t.throws(() => parseCsvHeader('upstream,downstream,op')),
      {
        details: {
          allowed: ['upstream', 'downstream', 'upstream_column', 'downstream_column']
        }
      }
    )
  })
})

const notes = 'upstream,downstream,note'

t.test('rows', async (t) => {
  t.test('mean the same with any number of empty cells behind them', async (t) => {
    for (const separator of separators)
      for (const empty of [0, 1, 2, 10_000]) {
        const end = separator.repeat(empty)
        const [first, second] = await entriesOf(
          [
            ['urn', 'domain'],
            [`"${orders}"`, `""${end}`],
            [`"${orders}"`, `"${sales}"${end}`]
          ]
            .map((cells) => cells.join(separator))
            .join('\n')
        )
        const changes = [first, second].map((entry) => entry && changesOf(entry))
        t.match(changes, [[{ kind: 'unsetDomain' }], [{ kind: 'setDomain', domainUrn: sales }]], `${empty}`)
      }
  })

  t.test('are numbered by the physical line on which they begin, whatever ends the line', async (t) => {
    const text = `\r\n${notes}\r\n\r\na,b\nc,d,"e\r\nf"\n , ,\n,,\nf,h,"g\n\n"\r\nh,i`
    const lines = ['4 a,b', '5 c,d,"e\r\nf"', '9 f,h,"g\n\n"', '12 h,i']
    t.strictSame(shortly(await rowsOf(text)), lines)
    t.strictSame(
      (await entriesOf(`\ufeff${text.slice(2)}`)).map(({ line }) => line),
      [3, 4, 8, 11],
      'a byte order mark is no part of the first line'
    )
    t.strictSame(
      shortly(await rowsOf(text.replaceAll(',', ';'))),
      lines.map((line) => line.replaceAll(',', ';')),
      'also with another separator'
    )
    for (const empty of [
      '',
      '\n',
      '\r\n\r\n',
      '\ufeff',
      'sep=;\n',
      ';;;\n,,\n',
      'upstream,downstream',
      'upstream;downstream\n;;;\n;\n',
      'upstream,downstream\r\n,\r\n'
    ])
      t.strictSame(await entriesOf(empty), [], JSON.stringify(empty))
  })

  t.test('a quote that is not closed costs its own line, in a column that is read', async (t) => {
    for (const separator of separators) {
      const of = (text: string): string => text.replaceAll(',', separator)
      const rows = await rowsOf(of('from,to\n"c,d\n"e","f"\ng,"h\n"i","j"\n"k\nl",m\nn,o\n'))
      t.strictSame(
        shortly(rows),
        ['2 BAD_REQUEST "c,d', '3 "e","f"', '4 BAD_REQUEST g,"h', '5 "i","j"']
          .concat(['6 BAD_REQUEST "k', '7 l",m', '8 n,o'])
          .map(of),
        JSON.stringify(separator)
      )
      t.match(rows[0]?.fault, {
        message:
          'The quote that opens in cell 1 is not closed in its line; this column contains no line breaks',
        details: { field: 'from' }
      })
      t.match(rows[2]?.fault, { message: /^The quote that opens in cell 2 /, details: { field: 'to' } })
    }
    const many = await rowsOf(
      `${notes}\n"open\n${`${edgeRow}\n`.repeat(20_000)}`,
      Array.from({ length: 5_000 }, () => 1_000)
    )
    t.equal(many.length, 20_001, 'however many rows follow')
    t.strictSame(
      many.filter(({ fault }) => fault).map(({ line }) => line),
      [2]
    )
    const each = await rowsOf(`${notes}\n${`${edgeRow.slice(0, -1)}\n`.repeat(5_000)}`)
    t.equal(each.filter(({ fault }) => fault).length, 5_000, 'and however many are open')
  })

  t.test('a note may have line breaks, but its open quote takes no row with it', async (t) => {
    for (const [body, expected] of [
      ['a,b,"two\nlines"\nc,d,', ['2 a,b,"two\nlines"', '4 c,d,']],
      ['a,b,"open\nc,d,fine\ne,f,', ['2 BAD_REQUEST a,b,"open', '3 c,d,fine', '4 e,f,']],
      ['a,b,"open\nc,d,"fine"\ne,f,', ['2 BAD_REQUEST a,b,"open', '3 c,d,"fine"', '4 e,f,']],
      [
        'a,b,"open\nc,d,fine\ne,f,"""x"""',
        ['2 BAD_REQUEST a,b,"open', '3 c,d,fine', '4 e,f,"""x"""'],
        'closed by a quote in a row below'
      ],
      [
        'a,b,"open\nc,d,fine\nclosed"\ne,f,',
        ['2 BAD_REQUEST a,b,"open', '3 c,d,fine', '4 closed"', '5 e,f,'],
        'closed below another row'
      ],
      [
        'a,b,"see x, y\nand c,d,\nand z"\ne,f,',
        ['2 a,b,"see x, y\nand c,d,\nand z"', '5 e,f,'],
        'a note with commas'
      ],
      [
        'h:a,h:b,"open\nh:c,h:d\nh:e,h:f,closed"\nh:g,h:h',
        ['2 BAD_REQUEST h:a,h:b,"open', '3 h:c,h:d', '4 h:e,h:f,closed"', '5 h:g,h:h'],
        'closed below a row without its empty cells'
      ],
      [
        'h:a,h:b,"open\nh:c,h:d,"\nh:e,h:f,',
        ['2 BAD_REQUEST h:a,h:b,"open', '3 BAD_REQUEST h:c,h:d,"', '4 h:e,h:f,'],
        'closed by the open quote of the next row'
      ],
      [
        'h:a,h:b,"for Ann,Bob\nEve,Dan\nat 9:00, or so"\n',
        ['2 h:a,h:b,"for Ann,Bob\nEve,Dan\nat 9:00, or so"']
      ],
      ['a,b,"x\ny",z\ne,f,', ['2 BAD_REQUEST a,b,"x', '3 y",z', '4 e,f,'], 'too many cells']
    ] as const)
      t.strictSame(shortly(await rowsOf(`${notes}\n${body}`)), [...expected], body)
    const open = `${notes}\na,b,"open\n`
    for (const [count, last] of [
      [998, 1],
      [999, 1_000]
    ] as const) {
      const rows = await rowsOf(`${open}${'x\n'.repeat(count)}"\nc,d`)
      t.equal(rows.length, last + 1 + (last > 1 ? 1 : 0), 'a row has at most 1,000 lines')
    }
    const far = await rowsOf(`${open}${`${edgeRow},\n`.repeat(50_000)}x"\n${edgeRow},\n`)
    t.strictSame(
      far.filter(({ fault }) => fault).map(({ line }) => line),
      [2],
      'a quote that is closed far below'
    )
    t.equal(far.length, 50_003)
  })

  t.test('a quote in the header is found with its line', async (t) => {
    for (const [text, line] of [
      ['"upstream,downstream\na,b', 1],
      ['\n,,\nupstream,"downstream\na,b\n', 3],
      [`sep=;\nupstream;"downstream\n${'a;b\n'.repeat(100_000)}`, 2],
      ['upstream\t"downstream"x\na\tb\n', 1],
      ['up"stream,downstream\na,b\n', 1]
    ] as const)
      await t.rejects(
        rowsOf(text),
        { code: 'BAD_REQUEST', details: { field: /header|down|upstream/, line } },
        text.slice(0, 60)
      )
    t.strictSame(
      shortly(await rowsOf('"Upstream\nTable";"Downstream\r\nTable";note\na;b;')),
      ['4 a;b;'],
      'a name may have line breaks'
    )
  })

  t.test('a row over the limit is refused, and the next are read', async (t) => {
    const long = 'x'.repeat(limits.recordMaxBytes)
    const sizes = Array.from({ length: 5_000 }, () => 1_000)
    const codes = async (text: string, cuts: Iterable<number> = []): Promise<string[]> =>
      (await rowsOf(`${notes}\n${text}`, cuts)).map(({ line, fault }) => `${line} ${fault?.code}`)
    const refused = ['2 undefined', '3 LIMIT_EXCEEDED', '4 undefined']
    t.strictSame(await codes(`a,b\n${long}y\nc,d`, sizes), refused)
    t.strictSame(await codes(`a,b\n${long}y\nc,d`), refused, 'also in one piece')
    t.strictSame(await codes(`a,b\n${long}\nc,d`), ['2 undefined', '3 undefined', '4 undefined'])
    const lines = `a,b,"${'x'.repeat(100)}\n${`${'x'.repeat(1_279)}\n`.repeat(1 + limits.recordMaxBytes / 1_280)}"\nc,d`
    t.strictSame(
      (await codes(lines, sizes)).filter((line) => !line.endsWith('undefined')),
      ['2 BAD_REQUEST', '823 BAD_REQUEST'],
      'a row of many lines too: its first line is at fault, and the quote that was to close it'
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
        yield Buffer.from('upstream,downstream,note\na,b,"')
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
      Buffer.concat([Buffer.from(`${notes}\na,b\nc,`), Buffer.from([0xff]), Buffer.from('\nü,e\n')])
    )
    t.strictSame(
      rows.map(({ line, fault }) => `${line} ${fault?.code}`),
      ['2 undefined', '3 BAD_REQUEST', '4 undefined']
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
        'degree,urn,type,name,platform,environment,domain,exists,owners',
        `1,"${orders}",DATASET,"'=1+1",,,${sales},true,urn:li:corpuser:ada`
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

const style = fc.record({
  newline: fc.constantFrom('\n', '\r\n'),
  quotes: fc.constantFrom<'needed' | 'all'>('needed', 'all'),
  mark: fc.boolean(),
  lastNewline: fc.boolean()
})
const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 100 })
const note = fc.oneof(
  fc.constant(''),
  fc.string({ unit: fc.constantFrom('"', ',', ';', '\t', '|', '\n', '\r\n', 'a', '=', "'") })
)

/** Whether a line within a note would be taken for a row: then its quote counts as left open, and the row is rejected. */
const couldBeRow = (line: string, separator: string): boolean => {
  const [upstream = '', downstream = '', ...others] = line.split(separator)
  return others.length > 0 && /^\S+$/.test(upstream) && /^\S+$/.test(downstream)
}

t.test(
  'a note with a line that could be a row itself is rejected, and the rows around it are read',
  async (t) => {
    const text = `upstream|downstream|reject_message\n${orders}|${customers}|"\n'|=|\n"\n${customers}|${orders}|\n`
    t.strictSame(madeOf(await entriesOf(text)), [
      [2, 'BAD_REQUEST', 'reject_message'],
      [3, 'INVALID_URN', 'upstream'],
      [4, 'BAD_REQUEST', 'upstream'],
      [5, [{ kind: 'addEdge', upstreamUrn: customers, downstreamUrn: orders }]]
    ])
  }
)

t.test('rows by an independent writer are read back, wherever the bytes are divided', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.tuple(urn, urn).filter(isPair), note), { maxLength: 12 }),
      style,
      fc.constantFrom(...separators),
      sizes,
      async (rows, how, separator, cuts) => {
        fc.pre(rows.every(([, message]) => !message.split('\n').some((line) => couldBeRow(line, separator))))
        const text = writeCsv(
          [
            ['upstream', 'downstream', 'reject_message'],
            ...rows.map(([[upstream, downstream], message]) => [upstream, downstream, message])
          ],
          { ...how, separator }
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

/** Line, changes or reason of each row: what a load makes of a file. */
const madeOf = (entries: readonly SingleRecord[]): unknown[] =>
  entries.map((entry) =>
    'error' in entry
      ? [entry.line, entry.error.code, entry.error.details.field]
      : [entry.line, changesOf(entry)]
  )

t.test('a table reads the same with any separator, in any order of columns, as with commas', async (t) => {
  const columns = [
    ['upstream', ['Source', 'from_table', 'Upstream URN', 'input-dataset', 'parent']],
    ['downstream', ['target', 'TO', 'downstream_table', 'Output', 'child']],
    ['upstream_column', ['source column', 'fromField', 'upstreamColumn']],
    ['downstream_column', ['Target_Column', 'to-column', 'output field']],
    ['note', ['Notes', 'Owner, since', 'a "b"', '']],
    ['degree', ['degree']]
  ] as const
  // A line break in a column that is read ends the row there.
  const cell = fc.oneof(
    note.map((text) => text.replaceAll(/[\r\n]/g, '')),
    fc.constantFrom('id', 'order id', "'=x", '+x', ' ')
  )
  const row = fc.tuple(urn, urn, cell, cell, note, note)
  let plain = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          {
            weight: 3,
            arbitrary: fc.tuple(urn, urn, fc.constant(''), fc.constant(''), fc.constant(''), note)
          },
          { weight: 2, arbitrary: row },
          { weight: 1, arbitrary: fc.tuple(cell, cell, cell, cell, cell, cell) }
        ),
        { maxLength: 8 }
      ),
      fc
        .shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 4 })
        .filter((order) => [0, 1].every((place) => order.includes(place))),
      fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
      style,
      fc.constantFrom(...separators),
      fc.record({ says: fc.boolean(), empties: fc.nat(3), blanks: fc.nat(2) }),
      sizes,
      async (rows, order, names, how, separator, { says, empties, blanks }, cuts) => {
        const last = order.at(-1) ?? 0
        const body = (own: boolean): string[][] =>
          [
            columns.map(([name, others], place) =>
              own || (place === last && place === 4)
                ? name
                : (others[(names[place] ?? 0) % others.length] ?? '')
            ),
            ...rows
          ].map((cells) => order.map((place) => cells[place] ?? ''))
        const expected = await entriesOf(writeCsv(body(true), { ...how, mark: false }))
        const padded = body(false).map((cells) => [...cells, ...Array.from({ length: empties }, () => '')])
        const text = writeCsv(padded, { ...how, mark: false, separator })
        const above = (says ? `sep=${separator}${how.newline}` : '') + how.newline.repeat(blanks)
        const entries = await entriesOf(`${how.mark ? '\ufeff' : ''}${above}${text}`, cuts)
        plain += entries.filter((entry) => 'shape' in entry).length
        const added = (says ? 1 : 0) + blanks
        const ours = new Map(body(true)[0]?.map((name, at) => [padded[0]?.[at] ?? '', name]))
        deepStrictEqual(
          entries.map((entry) =>
            'error' in entry
              ? [
                  entry.line - added,
                  entry.error.code,
                  ours.get(String(entry.error.details.field)) ?? entry.error.details.field
                ]
              : [entry.line - added, changesOf(entry)]
          ),
          madeOf(expected)
        )
      }
    ),
    { numRuns: 500 }
  )
  t.ok(plain > 50, `many on the fast path: ${plain}`)
})

t.test(
  'a row on the fast path says what it says cell by cell, and is given back as it was sent',
  async (t) => {
    const column = fc.oneof(
      fc.constantFrom('id', 'a b', 'x.y'),
      fc.constantFrom(
        '',
        'id',
        'order id',
        "'=x",
        '=x',
        '[version=2.0].[type=struct].a',
        'a,b',
        '(',
        'ü',
        ' x '
      ),
      fc.string({ maxLength: 5 })
    )
    const ordinary = fc.nat(9).map((number) => `urn:li:dataset:(urn:li:dataPlatform:hive,t${number},PROD)`)
    const text = fc.oneof(
      { weight: 8, arbitrary: ordinary },
      { weight: 2, arbitrary: urn },
      { weight: 1, arbitrary: column }
    )
    const headers = [
      'upstream,upstream_column,downstream,downstream_column',
      'downstream_column,upstream_column,downstream,upstream',
      'degree,upstream,downstream,downstream_column,notes,upstream_column',
      'upstream,downstream,upstream_column'
    ]
    let [plain, ofColumns] = [0, 0]
    fc.assert(
      fc.property(
        fc.constantFrom(...headers),
        fc.constantFrom(...separators),
        fc.array(
          fc.record({
            upstream: text,
            downstream: text,
            upstream_column: column,
            downstream_column: column,
            degree: fc.constantFrom('', '1', '"'),
            notes: note
          }),
          { minLength: 1, maxLength: 6 }
        ),
        fc.constantFrom<'needed' | 'all'>('needed', 'all'),
        (names, separator, rows, quotes) => {
          const header = parseCsvHeader(names.replaceAll(',', separator))
          const read = createPlainCsvReader(header)
          for (const [at, row] of rows.entries()) {
            const sent = writeCsv([header.names.map((name) => row[name as keyof typeof row])], {
              newline: '\n',
              quotes,
              separator,
              mark: false,
              lastNewline: false
            })
            const edge = read?.(sent, at + 1)
            if (!edge) continue
            plain += 1
            if (edge.shape.columns) ofColumns += 1
            const { upstream: upstreamUrn, downstream: downstreamUrn } = edge
            const change = { kind: 'addEdge', upstreamUrn, downstreamUrn }
            deepStrictEqual(parseCsvRecord(header, sent, at + 1).changes, [change])
            equal(textOfEdge(edge.shape, upstreamUrn, downstreamUrn), sent)
            const { columns: _, ...asOlderWorkersKnow } = edge.shape
            // They refuse the header of a file with another separator.
            if (separator === ',')
              deepStrictEqual(
                parseCsvRecord(header, textOfEdge(asOlderWorkersKnow, upstreamUrn, downstreamUrn), 1).changes,
                [change]
              )
          }
        }
      ),
      { numRuns: 1_000 }
    )
    t.ok(plain > 100 && ofColumns > 10)
  }
)

t.test('any text gives the same rows wherever its bytes are divided, and no row is lost', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r\n', 'a', '🙂', ' '), maxLength: 80 })
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.constantFrom(...separators),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 80 }),
      async (body, separator, cuts) => {
        const text = `${notes.replaceAll(',', separator)}\n${body.replaceAll(',', separator)}`
        const whole = await rowsOf(text)
        deepStrictEqual(shortly(await rowsOf(text, cuts)), shortly(whole))
        const without = (each: string): string => each.replaceAll(/[\r\n]/g, '')
        const kept = whole.map((row) => without(row.text)).join('')
        equal(
          kept.replaceAll(/[\s,;|]/g, ''),
          body.replaceAll(/[\s,;|]/g, ''),
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

/** The URNs of whole names of datasets, as in a load that creates missing references. */
const urnsOf = ({ names }: NamingRecord): { [field: string]: string } =>
  Object.fromEntries(
    names.map(({ field, text }) => {
      const parts = readDatasetName(text, field)
      return [field, urnOfDatasetName(parts, knownPlatform(parts.platform) ?? '', field)]
    })
  )

t.test('every CSV in the docs is read without rejects', async (t) => {
  for (const [page, count] of [
    ['docs/loading.md', 2],
    ['docs/how-to/load-csv.md', 2]
  ] as const) {
    const text = readFileSync(join(packageRoot, page), 'utf8')
    const examples = [...text.matchAll(/^( *)```csv\n([^]*?)\n *```$/gm)].map(([, indent = '', csv = '']) =>
      csv.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    )
    t.equal(examples.length, count, page)
    for (const csv of examples) {
      const { format, records } = await openRecords(['ndjson', 'csv'], cut(Buffer.from(csv), []))
      t.equal(format, 'csv')
      let edges = 0
      for await (const piece of records)
        for (const entry of piece)
          edges += ('names' in entry ? [entry.withUrns(urnsOf(entry))] : oneByOne([entry])).flatMap(
            changesOf
          ).length
      t.equal(edges, csv.replace(/^sep=.*\n/, '').split('\n').length - 1, csv)
    }
  }
})
