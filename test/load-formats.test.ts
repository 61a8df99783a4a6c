/**
 * Formats of loads through HTTP and a worker: CSV in and out, formats recognised by content, rejects
 * corrected and sent again.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { query } from '../shared/db/query.ts'
import { packageRoot } from '../shared/platform/paths.ts'
import { dataset, edge, entity } from './support/load-bench.ts'
import { withServer, type RestAnswer, type TestServer } from './support/server.ts'
import { skipUnless } from './support/skip.ts'
import { texts } from '../web/src/texts.ts'

const lines = (...records: unknown[]): string =>
  records.map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join('')
const csvOf = (...rows: string[]): string => rows.map((row) => `${row}\r\n`).join('')
const row = (upstream: string, downstream: string, more = ''): string =>
  `"${dataset(upstream)}","${dataset(downstream)}"${more}`

const withLoads = async (
  t: Test
): Promise<
  TestServer & {
    post: (
      body: string | Buffer,
      headers?: { [name: string]: string },
      parameters?: string
    ) => Promise<RestAnswer>
    rejects: (id: string, format?: string) => Promise<RestAnswer>
  }
> => {
  const server = await withServer(t, { withWorker: true })
  return {
    ...server,
    post: (body, headers = {}, parameters = '') =>
      server.rest({ method: 'POST', url: `/loads?wait=20${parameters}`, body, headers }),
    rejects: (id, format = 'ndjson') => server.rest({ url: `/loads/${id}/rejects?format=${format}` })
  }
}

const asCsv = { 'content-type': 'text/csv; charset=utf-8' }
const asNdjson = { 'content-type': 'application/x-ndjson' }

t.test('the CSV that the web UI suggests for an empty catalog is loaded without rejects', async (t) => {
  const { post } = await withLoads(t)
  const command = texts.firstLoad.formats.find(({ name }) => name === 'CSV')?.command('http://here') ?? ''
  const [, csv = ''] = /<<'END'\n([^]*)\nEND\n/.exec(command) ?? []
  t.match(command, '--missing-references create')
  t.match(await post(csv, { 'content-type': 'text/csv' }, '&missingReferences=create'), {
    status: 200,
    body: { state: 'done', counts: { received: 1, applied: 1, rejected: 0 } }
  })
})

t.test('a CSV', async (t) => {
  const server = await withLoads(t)
  await server.post(
    lines(entity('a'), entity('b'), entity('c'), { op: 'createDomain', id: 'sales', name: 'Sales' }),
    asNdjson
  )
  const loadRows = async (): Promise<number> =>
    (await query<{ count: number }>(server.db, 'select count(*)::int as count from load'))[0]?.count ?? -1

  await t.test(
    'of edges is applied, unchanged or rejected row by row, and each reject has its line, its column and its row',
    async (t) => {
      const body = csvOf(
        'Upstream,Downstream Urn,degree',
        row('a', 'b', ',1'),
        '',
        row('a', 'gone', ',1'),
        'x,y,1',
        row('b', 'c', ',2'),
        row('b', 'c', ',2,3'),
        `"open,${row('a', 'c')}`,
        row('a', 'b', ',3')
      )
      const { body: load, status } = await server.post(body, asCsv)
      t.equal(status, 200)
      t.match(load, {
        state: 'done',
        format: 'csv',
        counts: { received: 7, applied: 2, unchanged: 1, rejected: 4 }
      })
      t.match(
        (await server.rejects(load.id)).text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
        [
          { line: 4, code: 'MISSING_REFERENCE', field: 'Downstream Urn', record: row('a', 'gone', ',1') },
          { line: 5, code: 'INVALID_URN', field: 'Upstream', record: 'x,y,1' },
          { line: 7, code: 'BAD_REQUEST', field: 'header', record: row('b', 'c', ',2,3') },
          { line: 8, code: 'BAD_REQUEST', record: `"open,${row('a', 'c')}` }
        ]
      )
    }
  )

  await t.test('of domains puts assets into them and takes them out', async (t) => {
    t.match(
      (
        await server.post(
          csvOf(
            'resource,domain',
            `"${dataset('a')}",urn:li:domain:sales`,
            `"${dataset('b')}",urn:li:domain:sales`,
            `"${dataset('c')}",urn:li:domain:none`
          ),
          asCsv
        )
      ).body,
      { counts: { applied: 2, rejected: 1 } }
    )
    t.match(
      (await server.post(csvOf('urn,domain', `"${dataset('b')}",`, `"${dataset('c')}",`), asCsv)).body,
      { counts: { applied: 1, unchanged: 1, rejected: 0 } }
    )
    t.equal(
      (await server.rest({ url: '/domains/export' })).text,
      csvOf('resource,domain', `"${dataset('a')}",urn:li:domain:sales`)
    )
    t.equal(
      (await server.rest({ url: '/domains/export?format=ndjson&domain=urn:li:domain:sales' })).text,
      lines({ op: 'setDomain', entityUrn: dataset('a'), domainUrn: 'urn:li:domain:sales' })
    )
    t.equal((await server.rest({ url: '/domains/export?domain=urn:li:domain:none' })).status, 404)
    t.equal((await server.rest({ url: '/domains/export?format=xml' })).status, 400)
  })

  await t.test('whose header is wrong is refused with the column, and nothing is stored', async (t) => {
    const before = await loadRows()
    for (const [header, field] of [
      ['upstream,downstream,column', 'column'],
      ['upstream', 'downstream'],
      ['a,b', 'a'],
      ['upstream,downstream,resource,domain', 'resource'],
      ['upstream,downstream,downstream', 'downstream']
    ] as const) {
      const { status, body } = await server.post(csvOf(header, row('a', 'b')), asCsv)
      t.match({ status, body }, { status: 400, body: { code: 'BAD_REQUEST', field } }, header)
    }
    for (const empty of ['', 'upstream,downstream', 'upstream,downstream\r\n,\r\n'])
      t.match((await server.post(empty, asCsv)).body, { code: 'BAD_REQUEST' }, 'and so is one without a row')
    t.equal(await loadRows(), before)
  })

  await t.test(
    'has its rejects as a CSV, which can be sent again unchanged or fixed, any number of times',
    async (t) => {
      const { body: first } = await server.post(
        csvOf('downstream,upstream', row('m1', 'a'), row('m2', 'b'), '=cmd(),x', 'one,two,three', '"open'),
        asCsv
      )
      t.equal(first.counts.rejected, 5)
      const file = await server.rejects(first.id, 'csv')
      t.match(file.headers['content-type'], /^text\/csv/)
      const [header, ...rejected] = file.text.split('\r\n')
      t.equal(header, 'reject_line,reject_code,reject_field,reject_message,downstream,upstream')
      t.match(rejected, [
        /^2,MISSING_REFERENCE,downstream,.*,"urn:li:dataset:\(urn:li:dataPlatform:hive,m1,PROD\)",".*"$/,
        /^3,/,
        /^4,INVALID_URN,upstream,.*,'=cmd\(\),x$/,
        /^5,BAD_REQUEST,header,.*,one,two,three$/,
        /^6,BAD_REQUEST,downstream,.*,"""open"$/,
        ''
      ])
      const { body: again } = await server.post(file.text, asCsv)
      t.match(again.counts, { received: 5, rejected: 5 }, 'what is not mended is rejected again')
      const second = await server.rejects(again.id, 'csv')
      t.equal(second.text.split('\r\n')[0], header, 'with the same columns, not with more of them')
      t.match(second.text.split('\r\n')[3], /,'=cmd\(\),x$/, 'and the same cells')
      await server.post(lines(entity('m1'), entity('m2')), asNdjson)
      const mended = second.text
        .replace("'=cmd(),x", row('c', 'a'))
        .replace('one,two,three', row('c', 'b'))
        .replace('"""open"', row('b', 'a'))
      const { body: done } = await server.post(mended, asCsv)
      t.match(done.counts, { received: 5, rejected: 0 })
      t.equal((await server.rejects(done.id, 'csv')).text, `${header}\r\n`)
      t.match(
        (await server.rejects((await server.post(lines('x'), asNdjson)).body.id, 'csv')).body,
        { code: 'UNSUPPORTED', field: 'format' },
        'there are none of another format'
      )
      t.equal((await server.rejects(first.id, 'xml')).status, 400)
    }
  )

  await t.test(
    'as spreadsheets write it is loaded, and its rejects come back with the same separator',
    async (t) => {
      for (const [index, separator] of [';', '\t', '|', ','].entries()) {
        const [up, down] = [dataset(`s${index}`), dataset(`d${index}`)]
        const of = (...cells: string[]): string =>
          cells.map((cell) => (cell.includes(separator) ? `"${cell}"` : cell)).join(separator)
        const body = csvOf(
          ...(index % 2 === 0 ? [`sep=${separator}`] : ['', of('', '', '', '')]),
          of('Source Table', 'Target-Table', 'Notes', ''),
          of(up, down, 'a, b; c', ''),
          of(up, dataset('gone'), '', ''),
          of(up, `${down}"`),
          of('', '', '', '')
        )
        const { body: load, status } = await server.post(
          `\ufeff${body}`,
          index === 1 ? { 'content-type': 'text/tab-separated-values' } : index === 2 ? {} : asCsv,
          '&missingReferences=create'
        )
        t.equal(status, 200, body)
        t.match(
          load,
          { format: 'csv', counts: { received: 3, applied: 2, rejected: 1 }, ignoredColumns: ['Notes'] },
          separator
        )
        t.strictSame(
          (await server.graphql('query ($id: String!) { load(id: $id) { ignoredColumns } }', { id: load.id }))
            .body.data.load.ignoredColumns,
          ['Notes']
        )
        const { text } = await server.rejects(load.id, 'csv')
        const [header, reject = ''] = text.split('\r\n')
        t.equal(
          header,
          of(
            'reject_line',
            'reject_code',
            'reject_field',
            'reject_message',
            'Source Table',
            'Target-Table',
            'Notes'
          )
        )
        t.match(reject.split(separator).slice(0, 2), [index % 2 === 0 ? '5' : '6', 'BAD_REQUEST'])
        const mended = text.replace(
          /[^\r\n]*\r\n$/,
          `${['1', '', '', ''].join(separator)}${separator}${of(up, down)}\r\n`
        )
        t.match((await server.post(mended, asCsv, '&missingReferences=create')).body.counts, {
          received: 1,
          unchanged: 1,
          rejected: 0
        })
        t.match((await server.post(text, asCsv)).body.counts, { received: 1, rejected: 1 })
      }
    }
  )

  await t.test('is retried like any load', async (t) => {
    const { body: load } = await server.post(
      csvOf('upstream,degree,downstream', `"${dataset('r1')}",1,"${dataset('a')}"`, 'x,1,y'),
      asCsv
    )
    t.match(load.counts, { received: 2, rejected: 2 })
    await server.post(lines(entity('r1')), asNdjson)
    t.match((await server.rest({ method: 'POST', url: `/loads/${load.id}/retry?wait=20` })).body, {
      state: 'done',
      counts: { received: 2, applied: 1, rejected: 1 }
    })
  })
})

t.test('the format of a body', async (t) => {
  const server = await withLoads(t)
  await server.post(lines(entity('a'), entity('b')), asNdjson)
  const proposal = {
    entityType: 'dataset',
    entityUrn: dataset('p'),
    changeType: 'UPSERT',
    aspectName: 'status',
    aspect: { json: { removed: false } }
  }
  const bodies: { [format: string]: string } = {
    ndjson: lines('', edge('a', 'b')),
    csv: csvOf('', '"upstream","downstream"', row('a', 'b')),
    mcp: ` [${JSON.stringify(proposal)}]`
  }

  await t.test('is detected by parameter, by Content-Type, or by its first line', async (t) => {
    for (const [format, body] of Object.entries(bodies)) {
      for (const headers of [
        { 'content-type': 'application/octet-stream' },
        { 'content-type': 'application/x-www-form-urlencoded' },
        { 'content-type': 'text/plain; charset=utf-8' },
        {}
      ]) {
        t.match(
          (await server.post(body, headers)).body,
          { format, counts: { received: 1, rejected: 0 } },
          `${format} ${JSON.stringify(headers)}`
        )
      }
      t.match(
        (await server.post(body, { 'content-type': 'image/png' }, `&format=${format}`)).body,
        { format, counts: { rejected: 0 } },
        'the parameter is asked first'
      )
    }
    t.match((await server.post(lines(proposal, proposal), {})).body, {
      format: 'mcp',
      counts: { received: 2, rejected: 0 }
    })
    for (const [type, format, body] of [
      ['application/jsonl', 'ndjson', bodies.ndjson],
      ['application/csv', 'csv', bodies.csv],
      ['application/json', 'mcp', bodies.mcp],
      ['application/json', 'mcp', lines(proposal)],
      ['application/json', 'ndjson', bodies.ndjson],
      ['application/json', 'ndjson', JSON.stringify([edge('a', 'b')])],
      ['application/json', 'ndjson', JSON.stringify([edge('a', 'b')], null, 2)],
      ['application/json', 'ndjson', JSON.stringify(edge('a', 'b'))],
      ['application/json', 'ndjson', JSON.stringify(edge('a', 'b'), null, 4)],
      ['application/x-ndjson', 'ndjson', JSON.stringify([edge('a', 'b')])],
      ['text/tab-separated-values', 'csv', bodies.csv?.replaceAll('","', '"\t"')]
    ] as const) {
      t.match(
        (await server.post(body ?? '', { 'content-type': type })).body,
        { format, counts: { received: 1, rejected: 0 } },
        type
      )
    }
    t.match((await server.post(gzipSync(bodies.csv ?? ''), { 'content-encoding': 'gzip' })).body, {
      format: 'csv',
      counts: { rejected: 0 }
    })
  })

  await t.test('that nothing tells is asked for, with the choices, and nothing is stored', async (t) => {
    const before = await query(server.db, 'select count(*) from load')
    for (const body of ['hello', '{"a":1}{"a":2}', 'colour,size\n1,2', '<xml/>', '"x"', '7']) {
      const { status, body: answer } = await server.post(body, {})
      t.match(
        { status, answer },
        {
          status: 415,
          answer: {
            code: 'UNSUPPORTED_MEDIA_TYPE',
            field: 'format',
            allowed: ['ndjson', 'csv', 'mcp', 'openlineage', 'dbt', 'sql']
          }
        },
        body
      )
    }
    t.match((await server.post(bodies.csv ?? '', { 'content-type': 'application/json' })).body, {
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: /looks like csv/,
      allowed: ['ndjson', 'mcp', 'openlineage', 'dbt']
    })
    t.match((await server.post('<xml/>', { 'content-type': 'application/xml' })).body, {
      code: 'UNSUPPORTED_MEDIA_TYPE',
      field: 'format'
    })
    t.match((await server.post('', {})).body, { code: 'BAD_REQUEST' })
    for (const [body, says] of [
      [gzipSync(bodies.csv ?? ''), /Content-Encoding: gzip/],
      [Buffer.from([0x50, 0x4b, 3, 4, 0]), /zip file/],
      [Buffer.from('upstream,downstream', 'utf16le'), /UTF-16 without a byte order mark/],
      [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), /zstd/],
      [Buffer.from(JSON.stringify({ edges: [edge('a', 'b')] })), /send the array in "edges" itself|header/]
    ] as const) {
      for (const headers of [{}, asCsv, asNdjson])
        t.match((await server.post(body, headers)).body, { code: 'BAD_REQUEST', message: says })
    }
    t.strictSame(await query(server.db, 'select count(*) from load'), before)
  })
})

t.test('rejects as NDJSON are sent again as they are, mended in place', async (t) => {
  const server = await withLoads(t)
  const proposal = {
    entityType: 'dataset',
    entityUrn: dataset('late'),
    changeType: 'UPSERT',
    aspectName: 'upstreamLineage',
    aspect: { json: { upstreams: [{ dataset: dataset('a'), type: 'COPY' }] } }
  }
  const { body: load } = await server.post(
    lines(
      entity('a'),
      edge('a', 'late'),
      { op: 'setDomain', entityUrn: dataset('a'), domainUrn: 'urn:li:domain:typo' },
      '{"broken',
      proposal
    ),
    asNdjson
  )
  t.match(load.counts, { received: 5, applied: 1, rejected: 4 })
  const rejects = (await server.rejects(load.id)).text
  const { body: again } = await server.post(rejects, asNdjson)
  t.match(again.counts, { received: 4, rejected: 4 })
  const second = (await server.rejects(again.id)).text
    .trim()
    .split('\n')
    .map((line): { record: string } => JSON.parse(line))
  t.strictSame(
    second.map(({ record }) => record),
    rejects
      .trim()
      .split('\n')
      .map((line): string => JSON.parse(line).record),
    'a reject of a reject holds the record, not the reject'
  )
  await server.post(lines(entity('late'), { op: 'createDomain', id: 'sales', name: 'Sales' }), asNdjson)
  const mended = rejects
    .replaceAll('urn:li:domain:typo', 'urn:li:domain:sales')
    .replace(String.raw`"{\"broken"`, JSON.stringify(entity('a')))
  for (const [about, headers] of [
    ['told', asNdjson],
    ['telling itself', {}]
  ] as const) {
    t.match(
      (await server.post(mended, headers)).body,
      { format: 'ndjson', counts: { received: 4, rejected: 0 } },
      about
    )
  }
})

t.test(
  'domains are renamed, described, moved and deleted in bulk, by the rules of the mutations',
  async (t) => {
    const server = await withLoads(t)
    const domain = (id: string): string => `urn:li:domain:${id}`
    await server.post(
      lines(
        ...['a', 'b', 'c'].map((id) => ({ op: 'createDomain', id, name: id })),
        { op: 'createDomain', id: 'below', name: 'below', parentDomain: domain('a') },
        entity('x')
      ),
      asNdjson
    )
    const { body: load } = await server.post(
      lines(
        { op: 'renameDomain', domainUrn: domain('a'), name: 'A' },
        { op: 'describeDomain', domainUrn: domain('a'), description: 'first' },
        { op: 'moveDomain', domainUrn: domain('b'), parentDomain: domain('a') },
        { op: 'renameDomain', domainUrn: domain('a'), name: 'A' },
        { op: 'renameDomain', domainUrn: domain('b'), name: 'below' },
        { op: 'moveDomain', domainUrn: domain('a'), parentDomain: domain('b') },
        { op: 'describeDomain', domainUrn: domain('gone'), description: 'x' },
        { op: 'deleteDomain', domainUrn: domain('c') },
        { op: 'setDomain', entityUrn: dataset('x'), domainUrn: domain('below') }
      ),
      asNdjson
    )
    t.match(load, { state: 'done', counts: { received: 9, applied: 5, unchanged: 1, rejected: 3 } })
    t.match(
      (await server.rejects(load.id)).text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      [
        { line: 5, code: 'CONFLICT' },
        { line: 6, code: 'CONFLICT' },
        { line: 7, code: 'MISSING_REFERENCE' }
      ]
    )
    const { body } = await server.graphql(
      '{ a: domain(urn: "urn:li:domain:a") { properties { name description } } b: domain(urn: "urn:li:domain:b") { parentDomains { domains { urn } } } c: domain(urn: "urn:li:domain:c") { urn } }'
    )
    t.match(body.data, {
      a: { properties: { name: 'A', description: 'first' } },
      b: { parentDomains: { domains: [{ urn: domain('a') }] } },
      c: null
    })
    const top = await server.post(
      lines(
        { op: 'moveDomain', domainUrn: domain('b'), parentDomain: null },
        { op: 'deleteDomain', domainUrn: domain('below') },
        { op: 'unsetDomain', entityUrn: dataset('x') }
      ),
      asNdjson
    )
    t.match(
      top.body.counts,
      { applied: 2, unchanged: 1, rejected: 0 },
      'an asset is in no domain when that is deleted'
    )
  }
)

t.test('an export is loaded back unchanged', async (t) => {
  const folder = join(process.env.TRIBUTARY_TEST_DATA ?? join(packageRoot, '..', 'shared', 'data'), 'mcp')
  if (skipUnless(t, existsSync(folder), 'no folder of real data: set TRIBUTARY_TEST_DATA')) return
  const source = await withLoads(t)
  for (const file of ['dbt.json', 'snowflake.json', 'tableau.json']) {
    t.match(
      (await source.post(readFileSync(join(folder, file)), {}, '&missingReferences=create')).body,
      { format: 'mcp', state: 'done', counts: { rejected: 0 } },
      file
    )
  }
  await source.post(
    lines({ op: 'createDomain', id: 'a, "b"', name: 'A' }, { op: 'createDomain', id: 'c', name: 'C' }),
    asNdjson
  )
  const assets = await query<{ urn: string }>(
    source.db,
    "select urn from entity where urn like 'urn:li:dataset:%' or urn like 'urn:li:chart:%' order by id"
  )
  await source.post(
    lines(
      ...assets.map(({ urn }, index) => ({
        op: 'setDomain',
        entityUrn: urn,
        domainUrn: index % 3 === 0 ? 'urn:li:domain:a, "b"' : 'urn:li:domain:c'
      }))
    ),
    asNdjson,
    '&missingReferences=create'
  )
  const starts = await query<{ urn: string }>(
    source.db,
    "select urn from entity join statement on statement.upstream_id = entity.id where urn not like 'urn:li:schemaField:%' group by entity.id, urn order by count(*) desc, entity.id limit 12"
  )
  const exported = async (server: TestServer, path: string): Promise<string> => {
    const answer = await server.rest({ url: path })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer.text
  }
  const pathsOf = (format: string): string[] =>
    starts.flatMap(({ urn }) =>
      ['', '&columns=true'].map(
        (more) => `/lineage/export?of=edges&format=${format}&urn=${encodeURIComponent(urn)}${more}`
      )
    )

  for (const format of ['csv', 'ndjson']) {
    await t.test(format, async (t) => {
      const target = await withLoads(t)
      // The same assets with the same numbers (the order of an export), without edges or domains.
      const [entities] = await query<{ rows: string }>(
        source.db,
        'select json_agg(entity)::text as rows from entity'
      )
      await query(
        target.db,
        'insert into entity overriding system value select * from json_populate_recordset(null::entity, ?::json)',
        [entities?.rows ?? '[]']
      )
      await query(
        target.db,
        "select setval(pg_get_serial_sequence('entity', 'id'), (select max(id) from entity))"
      )
      let edges = 0
      const rejected = new Set<string>()
      for (const path of pathsOf(format)) {
        const text = await exported(source, path)
        // Assets that the connectors only refer to are placeholders, as in the first catalog.
        const { body } = await target.post(text, {}, '&missingReferences=create')
        if (text.split('\n').length <= 2) continue
        edges += body.counts.received
        for (const line of (await target.rejects(body.id)).text.split('\n')) if (line) rejected.add(line)
      }
      t.ok(edges > 100, `${edges} edges`)
      t.strictSame([...rejected], [])
      for (const path of pathsOf(format))
        t.equal(await exported(target, path), await exported(source, path), path)
      const domains = await exported(source, `/domains/export?format=${format}`)
      t.ok(domains.split('\n').length > 20)
      t.match((await target.post(domains, {}, '&missingReferences=create')).body, {
        format,
        counts: { rejected: 0 }
      })
      t.equal(await exported(target, `/domains/export?format=${format}`), domains)
    })
  }
  await t.test('entities as CSV, for their domains', async (t) => {
    const before = await exported(source, '/domains/export')
    const file = await exported(
      source,
      `/lineage/export?of=entities&format=csv&urn=${encodeURIComponent(starts[0]?.urn ?? '')}`
    )
    t.match((await source.post(file, {}, '&missingReferences=create')).body, {
      format: 'csv',
      counts: { applied: 0, rejected: 0 }
    })
    t.equal(await exported(source, '/domains/export'), before)
  })
})
