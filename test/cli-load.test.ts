/** `tributary load` in the same process: the files it finds, what it sends and prints, and its exit codes. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { findInputs } from '../bin/client/find-inputs.ts'
import { joinedUpload } from '../bin/client/upload.ts'
import { catalogClient } from './support/catalog-client.ts'
import { withFolder } from './support/program.ts'
import { freePort } from './support/free-port.ts'
import { runCommand as run, type Outcome } from './support/run-command.ts'
import { withServer } from './support/server.ts'
import { withAnswer, withStandIn } from './support/stand-in-server.ts'

const asset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const lines = (...records: object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

t.test('load', async (t) => {
  const { url, token } = await withServer(t, { withWorker: true })
  const env = { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token }
  const folder = withFolder(t)
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const good = lines(
    { op: 'upsertEntity', urn: asset('a') },
    { op: 'upsertEntity', urn: asset('b') },
    { upstreamUrn: asset('a'), downstreamUrn: asset('b') }
  )

  t.test('ends with 0 when everything is applied, and again when it is unchanged', async (t) => {
    const path = file('good.ndjson', good)
    t.match(await run(['load', path, '--source', 'etl'], { env }), {
      code: 0,
      out: [/is done: 3 records applied in/]
    })
    t.match(await run(['load', path, '--source', 'etl'], { env }), {
      code: 0,
      out: [/: 3 records unchanged in/]
    })
  })

  t.test('refuses a file of dbt in the place of another before anything is sent', async (t) => {
    const artifact = (kind: string): string =>
      JSON.stringify({ metadata: { dbt_schema_version: `https://schemas.getdbt.com/dbt/${kind}/v1.json` } })
    const files = {
      manifest: file('manifest.json', artifact('manifest')),
      catalog: file('other.json', artifact('catalog')),
      results: file('run_results.json', artifact('run-results')),
      sources: file('sources.json.gz', gzipSync(artifact('sources')))
    }
    for (const [args, message] of [
      [
        [files.manifest, '--catalog', files.results],
        /--catalog takes catalog\.json, but .* is run_results\.json/
      ],
      [
        [files.manifest, '--catalog', files.sources],
        /--catalog takes catalog\.json, but .* is sources\.json/
      ],
      [[files.manifest, '--run-results', files.catalog], /--run-results takes run_results\.json, but/],
      [[files.manifest, '--run-results', files.manifest], /--run-results takes run_results\.json, but/],
      [[files.results, '--catalog', files.catalog], /load takes manifest\.json, but .* is run_results\.json/]
    ] as const)
      t.match(await run(['load', ...args], { env }), { code: 1, err: [message] })
  })

  t.test('reads standard input, gzip, and proposals in a .json', async (t) => {
    t.match(await run(['load', '-'], { env, input: good }), { code: 0, out: [/: 3 records /] })
    t.match(await run(['load', file('good.ndjson.gz', gzipSync(good))], { env }), {
      code: 0,
      out: [/: 3 records /]
    })
    const proposal = {
      entityType: 'dataset',
      entityUrn: asset('b'),
      changeType: 'UPSERT',
      aspectName: 'upstreamLineage',
      aspect: { upstreams: [{ dataset: asset('a'), type: 'TRANSFORMED' }] }
    }
    t.match(await run(['load', file('proposals.json', JSON.stringify([proposal]))], { env }), {
      code: 0,
      out: [/: 1 record /]
    })
    const { data } = await catalogClient(url, token).graphql(`{ entityExists(urn: "${asset('b')}") }`)
    t.same(data, { entityExists: true })
  })

  t.test('reads spreadsheets as they are saved, and names ignored columns and open quotes', async (t) => {
    const [a, b, c] = [asset('a'), asset('b'), asset('c')]
    const europe = `\ufeffsep=;\r\nSource Table;Target Table;Owner;;\r\n${a};${b};Ann;;\r\n"${b};${a};;;\r\n;;;;\r\n${b};${c};"two\nlines"\r\n`
    const more = ['--missing-references', 'create']
    t.match(await run(['load', file('europe.csv', europe), ...more], { env }), {
      code: 2,
      out: [/: 1 record applied, 1 unchanged, 1 rejected in/],
      err: [
        'Ignored columns: Owner',
        /^line 4: BAD_REQUEST: The quote that opens in cell 1 is not closed in its line/
      ]
    })
    t.match(await run(['load', file('europe.csv', europe), ...more, '--json'], { env }), {
      out: [/"ignoredColumns":\["Owner"\]/]
    })
    const unicode = Buffer.from(`\ufeffFrom\tTo\tÜber\r\n${a}\t${b}\tü\r\n`, 'utf16le')
    for (const [name, content] of [
      ['unicode.txt', unicode],
      ['sheet.tsv', `upstream_table\tdownstream_table\n${a}\t${b}\n`],
      ['sheet.tsv.gz', gzipSync(`parent|child\n${a}|${b}\n`)],
      ['columns.csv', `source,source_column,target,target_column\n"${a}",id,"${b}",a_id\n`],
      ['array.json', JSON.stringify([{ upstreamUrn: a, downstreamUrn: b }], null, 2)],
      ['object.json', JSON.stringify({ upstreamUrn: a, downstreamUrn: b }, null, 2)]
    ] as const)
      t.match(
        await run(['load', file(name, content), ...more], { env }),
        { code: 0, out: [/: 1 record /] },
        name
      )
    t.match(
      await run(['load', file('array.json', JSON.stringify([{ upstreamUrn: a, downstreamUrn: b }, {}]))], {
        env
      }),
      {
        code: 2,
        err: [/^element 2: BAD_REQUEST: Not a valid record/]
      }
    )
    t.match(await run(['load', file('wrapped.json', JSON.stringify({ edges: [] }))], { env }), {
      code: 1,
      err: [/send the array in "edges" itself, or one record per line/]
    })
    t.match(await run(['load', file('open.csv', `"upstream,downstream\n"${a}","${b}"\n`)], { env }), {
      code: 1,
      err: [/The quote that opens in cell 1 of the header is not closed|The header is not a valid CSV row/]
    })
  })

  t.test('ends with 2 and shows line, code and message of the first rejects', async (t) => {
    const path = file(
      'bad.ndjson',
      `${good}no json\n${lines({ upstreamUrn: asset('a'), downstreamUrn: asset('absent') })}`
    )
    const shown = await run(['load', path], { env })
    t.match(shown, {
      code: 2,
      err: [/^line 4: BAD_REQUEST: /, /^line 5: MISSING_REFERENCE: .*absent/, /: tributary load rejects \S+$/]
    })
    const { code, out } = await run(['load', path, '--json'], { env })
    t.equal(code, 2)
    t.match(JSON.parse(out[0] ?? ''), {
      state: 'done',
      counts: { received: 5, rejected: 2 },
      rejects: [
        { line: 4, code: 'BAD_REQUEST' },
        { line: 5, code: 'MISSING_REFERENCE' }
      ]
    })
    t.match(await run(['load', path, '--missing-references', 'create'], { env }), {
      code: 2,
      out: [/1 rejected/]
    })
  })

  t.test('a reject about a URN shows an example of the kind that is wanted there', async (t) => {
    const { err } = await run(['load', '-'], {
      env,
      input: lines(
        { upstreamUrn: asset('a'), downstreamUrn: '' },
        { op: 'setDomain', entityUrn: asset('a'), domainUrn: '' }
      )
    })
    t.match(err, [
      /^line 1: INVALID_URN: downstreamUrn is empty; it must be a URN such as urn:li:dataset:/,
      /^line 2: INVALID_URN: domainUrn is empty; it must be a URN such as urn:li:domain:/
    ])
  })

  t.test('ends with 1 when the server refuses, or the file cannot be read', async (t) => {
    const path = file('good.ndjson', good)
    t.match(await run(['load', path, '--token', 'trib_wrong'], { env }), {
      code: 1,
      err: [/UNAUTHENTICATED/]
    })
    for (const option of ['--mode', '--format'])
      t.match(await run(['load', path, option, 'bogus'], { env }), { code: 1, err: [/UNSUPPORTED/] }, option)
    t.match(await run(['load', path, '--mode', 'bogus'], { env }), {
      err: [/Unknown mode bogus\. Allowed: merge, snapshot$/]
    })
    t.match(await run(['load', path, '--missing-references', 'bogus'], { env }), {
      code: 1,
      err: [/BAD_REQUEST: missingReferences/]
    })
    for (const args of [
      ['--wait', 'long'],
      ['--retry-for', '-1'],
      ['--compress', 'maybe'],
      ['--idempotency-key', 'two words'],
      ['--wait', '1', '--no-wait']
    ]) {
      t.match(
        await run(['load', path, ...args], { env }),
        { code: 1, out: { length: 0 }, err: [new RegExp(args[0] ?? '')] },
        args.join(' ')
      )
    }
    t.match(await run(['load', '-'], { env, input: '' }), { code: 1 })
    t.match(await run(['load', join(folder, 'none')], { env }), { code: 1, err: [/There is no file/] })
    t.match(await run(['load', join(folder, '*.none')], { env }), { code: 1, err: [/Nothing fits/] })
    t.match(await run(['load', path, '--url', 'nonsense'], { env }), { code: 1, err: [/--url takes a URL/] })
    t.match(await run(['load', path, '--url', 'http://me:secret@127.0.0.1:1'], { env }), {
      code: 1,
      err: [/--url takes no user and password/]
    })
    t.match(await run(['load', path]), {
      code: 1,
      err: [
        /token is needed.*no file \/nowhere\/token either\)\. Where .* runs, call the command in the same folder/
      ]
    })
  })

  t.test('ends with 4 after no answer, or an answer of another server', async (t) => {
    const path = file('good.ndjson', good)
    const nobody = { ...env, TRIBUTARY_URL: `http://127.0.0.1:${await freePort()}` }
    t.match(await run(['load', path, '--retry-for', '0'], { env: nobody }), {
      code: 4,
      err: [/does not answer: .*ECONNREFUSED/]
    })
    t.match(await run(['load', path, '--retry-for', '0'], { env: nobody, command: 'npx tributary' }), {
      code: 4,
      err: [/Is it running\? `npx tributary up`/]
    })
    const other = await withAnswer(t, 200, '<html>')
    t.match(await run(['load', path], { env: { ...env, TRIBUTARY_URL: other } }), {
      code: 4,
      err: [/Is this a Tributary server/]
    })
    const proxy = await withAnswer(t, 502, 'Bad Gateway')
    t.match(await run(['load', path, '--retry-for', '0'], { env: { ...env, TRIBUTARY_URL: proxy } }), {
      code: 4,
      err: [/status 502/]
    })
  })

  t.test('ends with 3 when the load fails', async (t) => {
    const load = {
      id: '0',
      state: 'failed',
      error: 'a reason',
      counts: { received: 1, applied: 0, unchanged: 0, rejected: 0 }
    }
    const server = await withAnswer(t, 202, JSON.stringify(load))
    t.match(await run(['load', file('good.ndjson', good)], { env: { ...env, TRIBUTARY_URL: server } }), {
      code: 3,
      out: [/has failed: 1 record left out$/],
      err: [/a reason/]
    })
  })

  t.test(
    'waits no longer than requested: it ends with 0 if it was not to wait, and with 5 when the time was over',
    async (t) => {
      const load = {
        id: '0',
        state: 'applying',
        error: null,
        counts: { received: 9, applied: 3, unchanged: 0, rejected: 0 }
      }
      const server = { ...env, TRIBUTARY_URL: await withAnswer(t, 202, JSON.stringify(load)) }
      const path = file('good.ndjson', good)
      t.match(await run(['load', path, '--wait', '0'], { env: server }), { code: 0, out: [/continues/] })
      t.match(await run(['load', path, '--no-wait'], { env: server }), { code: 0, out: [/continues/] })
      t.match(await run(['load', path, '--wait', '1'], { env: server }), { code: 5, out: [/continues/] })
    }
  )

  t.test('draws a bar on a terminal, clears it, and colours rejects unless NO_COLOR is set', async (t) => {
    const { code, drawn, err } = await run(['load', file('good.ndjson', `${good}bad\n`)], {
      env,
      isTty: true
    })
    t.equal(code, 2)
    t.match(
      drawn.find((line) => line.includes('applied')),
      /^\[[#.]{20}\] +\d+% \d of 4 records, \d applied, \d unchanged, \d rejected/
    )
    t.equal(drawn.at(-1), '')
    t.ok(err[0]?.startsWith('\u001B[33mline 4: BAD_REQUEST: '))
    t.match(
      (await run(['load', file('good.ndjson', 'bad\n')], { env: { ...env, NO_COLOR: '1' }, isTty: true }))
        .err[0],
      /^line 1: /
    )
  })

  t.test('draws no bar into a pipe, and names the file of a reject if there are several files', async (t) => {
    const two = await run(['load', file('first.ndjson', good), file('second.ndjson', 'bad\n')], { env })
    t.equal(two.code, 2)
    t.notMatch(two.err.join('\n'), /\[[#.]{20}\]/)
    t.ok(
      two.err.some((line) => /second\.ndjson line 1: BAD_REQUEST/.test(line)),
      two.err.join('\n')
    )
  })

  t.test('lists a dry run as one', async (t) => {
    t.match(await run(['load', file('good.ndjson', good), '--dry-run'], { env }), { code: 0 })
    t.match(
      (await run(['load', 'list', '--limit', '1'], { env })).out[0],
      /\tdone\tdry run\t[^\t]*\t3\t0\t3\t0$/
    )
  })

  t.test('tells the format of standard input by what is in it', async (t) => {
    t.match(
      await run(['load', '-'], {
        env,
        input: `upstreamUrn,downstreamUrn\n"${asset('a')}","${asset('b')}"\n`
      }),
      { code: 0, out: [/: 1 record unchanged/] }
    )
    t.match(await run(['load', '-'], { env, input: 'neither this nor that' }), { code: 1 })
  })

  t.test('prints what a dry run finds, and changes nothing', async (t) => {
    const dry = lines(
      { op: 'upsertEntity', urn: asset('dry') },
      { upstreamUrn: asset('b'), downstreamUrn: asset('dry') }
    )
    const { code, out } = await run(['load', '-', '--dry-run'], { env, input: dry })
    t.equal(code, 0)
    t.match(out, [/^Dry run \S+ is done: 2 records would be applied in/])
    t.strictSame(out.slice(1), [
      '  1 edge would be added; 1 dataset would be created; 1 dataset is changed or downstream.',
      '  Changed or downstream:',
      `    ${asset('dry')}`
    ])
    t.match(await run(['load', '-'], { env, input: dry }), { out: [/2 records applied/] })
  })

  t.test('warns in a dry run of events, as in the load, of what is left out of them', async (t) => {
    const input = lines({
      eventTime: '2026-01-01T00:00:00Z',
      producer: 'https://example.com',
      schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent',
      dataset: { namespace: 'x', name: 'y', facets: { schema: { fields: [{ name: 'kept' }, { name: 7 }] } } }
    })
    const err = [/^Warning: line 1: dataset\.facets\.schema\.fields\[1\]/]
    for (const options of [['--dry-run'], []])
      t.match(await run(['load', '-', '--format', 'openlineage', ...options], { env, input }), {
        code: 0,
        out: [/: 1 record /],
        err
      })
  })

  t.test('ends with 3 when a load that is all or nothing is nothing', async (t) => {
    t.match(
      await run(['load', '-', '--atomic'], {
        env,
        input: `${lines({ op: 'upsertEntity', urn: asset('whole') })}bad\n`
      }),
      { code: 3, out: [/has failed: 1 record rejected, 1 left out/] }
    )
  })

  t.test('ends with 3 when a dry run finds that the load would fail', async (t) => {
    const input = `${lines({ op: 'upsertEntity', urn: asset('half') })}bad\n`
    const dry = ['load', '-', '--dry-run']
    t.match(await run([...dry, '--atomic'], { env, input }), { code: 3, out: [/^Dry run \S+ is done/] })
    t.match(await run(dry, { env, input }), { code: 2 }, 'without --atomic it would end with rejects')
  })

  t.test(
    'joins files to one snapshot, says what it removes, and needs --force to remove too much',
    async (t) => {
      const edge = (name: string): object => ({ upstreamUrn: asset('a'), downstreamUrn: asset(name) })
      const names = ['s1', 's2', 's3', 's4', 's5', 's6']
      t.match(
        await run(['load', '-'], {
          env,
          input: lines(...names.map((name) => ({ op: 'upsertEntity', urn: asset(name) })))
        }),
        { code: 0 }
      )
      const snapshot = (...parts: string[][]): Promise<Outcome> =>
        run(
          [
            'load',
            ...parts.map((part, index) => file(`part-${index}.ndjson`, lines(...part.map(edge)))),
            '--mode',
            'snapshot',
            '--source',
            'nightly'
          ],
          { env }
        )
      t.match(await snapshot(names.slice(0, 3), names.slice(3)), { code: 0, out: [/6 records applied/] })
      const second = await snapshot(names.slice(0, 3), names.slice(3, 5))
      t.match(second, { code: 0, out: [/5 records unchanged/] })
      t.equal(second.out[1], '  nightly no longer states 1 of its 6 edges.')
      t.match(await snapshot(['s1']), {
        code: 1,
        out: { length: 0 },
        err: [/SNAPSHOT_REMOVES_TOO_MUCH: .*--force/]
      })
      const forced = await run(
        ['load', join(folder, 'part-0.ndjson'), '--mode', 'snapshot', '--source', 'nightly', '--force'],
        { env }
      )
      t.equal(forced.out[1], '  nightly no longer states 4 of its 5 edges.')
    }
  )

  t.test('with --quiet prints only rejects and errors', async (t) => {
    t.strictSame(await run(['load', file('good.ndjson', good), '--quiet'], { env }), {
      code: 0,
      out: [],
      err: [],
      drawn: [],
      questions: []
    })
    t.match(await run(['load', file('bad.ndjson', 'bad\n'), '--quiet'], { env, isTty: true }), {
      code: 2,
      out: { length: 0 },
      err: [/line 1/],
      drawn: { length: 0 }
    })
  })

  t.test('sends folders and patterns, a load for each file, in order, each file once', async (t) => {
    const deep = join(folder, 'deep')
    mkdirSync(join(deep, 'b'), { recursive: true })
    for (const [name, content] of [
      ['b/1.jsonl', good],
      ['a.ndjson', good],
      ['c.ndjson.gz', gzipSync(good)],
      ['notes.txt', 'no'],
      ['.hidden.ndjson', 'no']
    ] as const)
      writeFileSync(join(deep, name), content)
    symlinkSync(deep, join(deep, 'loop'))
    const { code, out, err } = await run(['load', deep, join(deep, '*.ndjson')], { env })
    t.equal(code, 0)
    t.strictSame(
      out.map((line) =>
        line
          .replace(`${deep}/`, '')
          .replace(/: Load.*/, '')
          .replace(/ in .*/, '')
      ),
      ['a.ndjson', 'b/1.jsonl', 'c.ndjson.gz', '3 of 3 files: 9 records unchanged']
    )
    t.strictSame(err, [])
    t.match((await run(['load', join(deep, '**', '{1,2}.json?')], { env })).out, [/: 3 records /])
    mkdirSync(join(folder, 'empty'), { recursive: true })
    t.match(await run(['load', join(folder, 'empty')], { env }), {
      code: 1,
      err: [/contains no file that ends in .ndjson/]
    })
  })

  t.test(
    'continues with the other files when one is refused, and ends with the worst of their codes',
    async (t) => {
      const files = [file('1.ndjson', good), file('2.ndjson', ''), file('3.ndjson', `${good}bad\n`)]
      const { code, out, err } = await run(['load', ...files], { env })
      t.equal(code, 1, 'a file that was refused is worse than one with rejects')
      t.match(out, [
        /1.ndjson: Load .* 3 records unchanged/,
        /3.ndjson: Load .* 3 records unchanged, 1 rejected/,
        /^2 of 3 files: \d records? .*; not loaded: \S+2.ndjson$/
      ])
      t.match(err, [/2.ndjson: The server refused: BAD_REQUEST/, /3.ndjson line 4: BAD_REQUEST/])
      t.equal((await run(['load', ...files.slice(0, 1), ...files.slice(2)], { env })).code, 2)
      const stopped = await run(['load', ...files, '--token', 'trib_wrong'], { env })
      t.match(stopped, { code: 1, out: [/^0 of 3 files: .*not loaded: \S+1.ndjson; 2 not tried$/] })
      t.equal(stopped.err.length, 1, 'what refuses the token refuses all')
    }
  )

  t.test('prints one line of JSON for each load, also for one that was refused', async (t) => {
    const files = [file('1.ndjson', good), file('2.ndjson', '')]
    const { code, out } = await run(['load', ...files, '--json'], { env, isTty: true })
    t.equal(code, 1)
    t.match(
      out.map((line) => JSON.parse(line)),
      [
        { file: files[0], state: 'done', source: 'load', counts: { received: 3 }, rejects: { length: 0 } },
        { file: files[1], error: { code: 'BAD_REQUEST' }, exitCode: 1 }
      ]
    )
    t.equal(out.length, 2)
  })

  t.test('all rejects of a CSV are printed as CSV, which loads once it is mended', async (t) => {
    const rejectedCount = 1_203
    const rows = Array.from({ length: rejectedCount }, (_, row) => `hiv:typo${row};hive:right;"Köln; ${row}"`)
    const sheet = file('typos.csv', `\ufeffSource;Target;Notes;;\r\n${rows.join(';;\r\n')};;\r\n`)
    const create = ['--missing-references', 'create']
    const { out, code } = await run(['load', sheet, '--json', ...create], { env })
    t.equal(code, 2)
    const { id }: { id: string } = JSON.parse(out[0] ?? '')
    const rejects = await run(['load', 'rejects', id, '--csv'], { env })
    t.match(rejects, { code: 0, err: { length: 0 } })
    const text = rejects.out.join('\n')
    t.match(
      text,
      /^reject_line;reject_code;reject_field;reject_message;Source;Target;Notes\r\n2;INVALID_URN;/
    )
    t.equal(text.split('\r\n').length, 1 + rejectedCount)
    t.match(text, new RegExp(`;"Köln; ${rejectedCount - 1}";;\r$`))
    const mended = file('mended.csv', `${text.replaceAll(';hiv:', ';hive:')}\n`)
    t.match(await run(['load', mended, ...create], { env }), {
      code: 0,
      out: [/: 1,203 records applied/]
    })
    const other = await run(['load', '-', '--json'], { env, input: '{}\n' })
    t.match(await run(['load', 'rejects', JSON.parse(other.out[0] ?? '').id, '--csv'], { env }), {
      code: 1,
      err: [/Rejects are available as CSV only for CSV loads/]
    })
  })

  t.test('status, rejects, retry, cancel and list speak of loads that were sent before', async (t) => {
    const path = file(
      'mend.ndjson',
      `${good}${lines({ upstreamUrn: asset('a'), downstreamUrn: asset('later') })}bad\n`
    )
    const { out } = await run(['load', path, '--json', '--source', 'mending'], { env })
    const { id }: { id: string } = JSON.parse(out[0] ?? '')
    t.match(await run(['load', 'status', id], { env }), {
      code: 2,
      out: [/is done: \d records? \w+, .*2 rejected$/],
      err: [/^line 4: MISSING_REFERENCE/, /^line 5: BAD_REQUEST/]
    })
    t.match(
      (await run(['load', 'rejects', id], { env })).out.map((line) => JSON.parse(line)),
      [
        { line: 4, code: 'MISSING_REFERENCE' },
        { line: 5, code: 'BAD_REQUEST', record: 'bad' }
      ]
    )
    const records = await run(['load', 'rejects', id, '--records'], { env })
    t.strictSame(records, {
      code: 0,
      err: [],
      drawn: [],
      questions: [],
      out: [lines({ upstreamUrn: asset('a'), downstreamUrn: asset('later') }).trim(), 'bad']
    })
    t.match(await run(['load', '-'], { env, input: lines({ op: 'upsertEntity', urn: asset('later') }) }), {
      code: 0
    })
    t.match(await run(['load', 'retry', id], { env }), { code: 2, out: [/1 rejected/] })
    t.match(await run(['load', 'status', id, '--json'], { env }), {
      code: 2,
      out: [/"source":"mending".*"createdAt":"\d{4}-\d\d-\d\dT[\d:.]+Z","finishedAt":"\d{4}-/]
    })
    t.match(JSON.parse((await run(['load', 'list', '--limit', '1', '--json'], { env })).out[0] ?? ''), {
      createdAt: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
    })
    t.match(await run(['load', 'list'], { env }), {
      code: 0,
      out: [/^[0-9a-f-]{36}\t\d{4}-\d\d-\d\dT[\d:.]+Z\tdone\tmerge\t/]
    })
    t.equal((await run(['load', 'list', '--limit', '2', '--json'], { env })).out.length, 2)
    t.match(await run(['load', 'cancel', id], { env }), { code: 1, err: [/CONFLICT/] })
    for (const command of ['status', 'rejects', 'retry', 'cancel'])
      t.match(
        await run(['load', command, '00000000-0000-4000-8000-000000000000'], { env }),
        { code: 1, out: { length: 0 }, err: [/NOT_FOUND/] },
        command
      )
    t.match(await run(['load', 'list', '--limit', '0'], { env }), { code: 1, err: [/--limit takes/] })
    const listed = async (...args: string[]): Promise<string[]> =>
      (await run(['load', 'list', ...args], { env })).out.map((line) => line.slice(0, 36))
    t.strictSame(await listed('--source', 'mending', '--since', '1h', '--state', 'done', '--mode', 'merge'), [
      id
    ])
    t.strictSame(await listed('--source', 'mending', '--state', 'cancelled'), [])
    t.match(await run(['load', 'list', '--since', 'soon'], { env }), {
      code: 1,
      err: [/^--since takes a time such as 30d, 12h or 2026-01-31, not soon\./]
    })
    t.match(await run(['load', 'list', '--state', 'gone'], { env }), {
      code: 1,
      err: [/state cannot be gone\. Allowed: receiving, accepted, /]
    })
    t.match(await run(['load', 'list', '--mode', 'x'], { env }), {
      code: 1,
      err: [/^--mode takes merge, snapshot or undo, not x\./]
    })
  })
})

t.test('a load can be named by the beginning of its id, if only one id begins with it', async (t) => {
  const load = (id: string): object => ({
    id,
    state: 'done',
    source: 'nightly',
    error: null,
    createdAt: 0,
    counts: { received: 1, applied: 1, unchanged: 0, rejected: 0 }
  })
  const ids = [
    '0b8f0000-0000-4000-8000-000000000001',
    '0b8f0000-0000-4000-8000-000000000002',
    'ffff0000-0000-4000-8000-000000000003'
  ]
  const url = await withStandIn(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const prefix = searchParams.get('idPrefix')
    response.end(
      JSON.stringify(
        prefix === null
          ? load(pathname.split('/')[2] ?? '')
          : { loads: ids.filter((id) => id.startsWith(prefix)).map(load), nextCursor: null }
      )
    )
  })
  const env = { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: 'x' }
  for (const command of ['status', 'retry', 'undo', 'cancel'])
    t.match(
      await run(['load', command, 'FFFF'], { env }),
      { code: 0, out: [new RegExp(`^Load ${ids[2]} is done`)] },
      command
    )
  t.match(await run(['load', 'status', '0b8f'], { env }), {
    code: 1,
    out: { length: 0 },
    err: [`The ids of several loads begin with 0b8f: ${ids[0]} (nightly, done), ${ids[1]} (nightly, done).`]
  })
  t.match(await run(['load', 'status', '77aa'], { env }), {
    code: 1,
    out: { length: 0 },
    err: ['No load id begins with 77aa.']
  })
  t.match(await run(['load', 'status', 'fff'], { env }), {
    code: 1,
    out: { length: 0 },
    err: ['fff is too short: give at least 4 characters of the id of a load.']
  })

  const server = await withServer(t)
  const real = { TRIBUTARY_URL: server.url, TRIBUTARY_TOKEN: server.token }
  const { id }: { id: string } = JSON.parse(
    (
      await run(['load', '-', '--no-wait', '--json'], {
        env: real,
        input: lines({ op: 'upsertEntity', urn: asset('prefix') })
      })
    ).out[0] ?? ''
  )
  t.match(await run(['load', 'status', id.slice(0, 7)], { env: real }), {
    code: 5,
    out: [new RegExp(`^Load ${id} continues`)]
  })
  t.match(await run(['load', 'rejects', id.slice(0, 10)], { env: real }), { code: 0, out: { length: 0 } })
})

t.test('a load that waits is followed until it is cancelled: 5 while it runs, 3 then', async (t) => {
  const { url, token } = await withServer(t)
  const env = { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token }
  const input = lines({ op: 'upsertEntity', urn: asset('waits') })
  const sent = await run(['load', '-', '--no-wait', '--json'], { env, input })
  t.equal(sent.code, 0)
  const { id }: { id: string } = JSON.parse(sent.out[0] ?? '')
  t.match(await run(['load', 'status', id], { env }), {
    code: 5,
    out: [/continues \(accepted\): 1 record waiting/]
  })
  t.match(await run(['load', '-', '--wait', '1'], { env, input }), { code: 5, out: [/continues/] })
  const followed = run(['load', 'status', id, '--follow'], { env })
  // by then its events are followed
  await sleep(2_500)
  t.match(await run(['load', 'cancel', id], { env }), { code: 0, out: [/is cancelled/] })
  t.match(await followed, { code: 3, out: [/is cancelled: 1 record left out/] })
})

t.test('what is sent', async (t) => {
  const folder = withFolder(t)
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const requests: { query: string; headers: IncomingHttpHeaders; body: Buffer }[] = []
  const url = await withStandIn(t, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => {
      parts.push(part)
    })
    request.on('end', () => {
      requests.push({ query: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) })
      response.end(
        JSON.stringify({
          id: '0',
          state: 'done',
          error: null,
          counts: { received: 1, applied: 1, unchanged: 0, rejected: 0 }
        })
      )
    })
  })
  const send = async (...args: string[]): Promise<{ outcome: Outcome; sent: typeof requests }> => {
    requests.length = 0
    const outcome = await run(['load', ...args], { env: { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: 'x' } })
    return { outcome, sent: [...requests] }
  }

  t.test('has what was asked for in its query', async (t) => {
    const {
      sent: [request]
    } = await send(
      file('a.ndjson', 'x\n'),
      '--source',
      's',
      '--mode',
      'snapshot',
      '--force',
      '--atomic',
      '--dry-run',
      '--missing-references',
      'create'
    )
    t.strictSame(Object.fromEntries(new URL(request?.query ?? '', url).searchParams), {
      source: 's',
      mode: 'snapshot',
      force: 'true',
      atomic: 'true',
      dryRun: 'true',
      missingReferences: 'create'
    })
  })

  t.test('is sent unchanged if it is compressed, and compressed on the way on request', async (t) => {
    const packed = gzipSync('x\n')
    const {
      sent: [asItIs]
    } = await send(file('a.csv.gz', packed))
    t.match(asItIs, {
      query: /format=csv/,
      headers: {
        'content-encoding': 'gzip',
        'content-length': String(packed.length),
        'content-type': 'text/csv'
      },
      body: packed
    })
    const {
      sent: [zstd]
    } = await send(file('a.ndjson.zst', 'not looked into'))
    t.match(zstd, { headers: { 'content-encoding': 'zstd' }, body: Buffer.from('not looked into') })
    const {
      sent: [plain]
    } = await send(file('a.ndjson', 'x\n'))
    t.match(plain, {
      headers: { 'content-encoding': undefined, 'content-length': '2' },
      body: Buffer.from('x\n')
    })
    const {
      sent: [onTheWay]
    } = await send(file('a.ndjson', 'x\n'), '--compress', 'always')
    t.equal(onTheWay?.headers['content-encoding'], 'gzip')
    t.equal(String(gunzipSync(onTheWay?.body ?? '')), 'x\n')
  })

  t.test('goes under a key of its own: a new one in each run, or one made from the key given', async (t) => {
    const files = [file('a.ndjson', 'x\n'), file('b.ndjson', 'x\n')]
    const keysOf = async (...args: string[]): Promise<unknown[]> =>
      (await send(...args)).sent.map(({ headers }) => headers['idempotency-key'])
    const keys = [...(await keysOf(...files)), ...(await keysOf(...files))]
    t.equal(new Set(keys).size, 4)
    t.strictSame(await keysOf(...files.slice(0, 1), '--idempotency-key', 'nightly'), ['nightly'])
    const given = await keysOf(...files, '--idempotency-key', 'nightly')
    t.equal(new Set(given).size, 2)
    t.strictSame(
      await keysOf(...files, '--idempotency-key', 'nightly'),
      given,
      'a file that was loaded is known again in the next run'
    )
  })

  t.test(
    'is one body if several files are one snapshot, and a place in it is named by its file',
    async (t) => {
      const files = [
        file('a.ndjson', 'one\ntwo'),
        file('b.ndjson', 'three\n'),
        file('c.ndjson', ''),
        file('d.ndjson', 'four')
      ]
      const { outcome, sent } = await send(...files, '--mode', 'snapshot')
      t.equal(outcome.code, 0)
      t.match(sent, [{ headers: { 'content-length': '18' }, body: Buffer.from('one\ntwo\nthree\nfour') }])
      t.equal(sent.length, 1)
      const packed = await send(
        file('a.ndjson.gz', gzipSync('one')),
        file('b.ndjson.gz', gzipSync('two\n')),
        '--mode',
        'snapshot'
      )
      t.equal(String(gunzipSync(packed.sent[0]?.body ?? '')), 'one\ntwo\n')
      for (const [others, why] of [
        [[file('a.csv', 'x')], /only NDJSON/],
        [[file('a.csv', 'x'), '--format', 'csv'], /only NDJSON/],
        [[file('e.ndjson.gz', 'x')], /all are plain, or all are .gz/],
        [['-'], /only NDJSON|cannot be joined/]
      ] as const) {
        const refused = await send(...files, ...others, '--mode', 'snapshot')
        t.match(refused, { outcome: { code: 1, err: [why] }, sent: { length: 0 } }, others.join(' '))
      }
      const upload = joinedUpload(findInputs(files), {
        format: null,
        pack: false,
        input: () => Readable.from([])
      })
      for await (const part of upload.body().stages[0]) void part
      t.strictSame(
        [1, 2, 3, 4].map((line) => upload.place(line).replace(`${folder}/`, '')),
        ['a.ndjson line 1', 'a.ndjson line 2', 'b.ndjson line 1', 'd.ndjson line 1']
      )
    }
  )
})
