/** The command line in the same process: the output and exit code of each command. */
import { spawnSync } from 'node:child_process'
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { commandTable } from '../bin/command-table.ts'
import { ownCommand } from '../bin/own-command.ts'
import { parseExpiry } from '../bin/duration.ts'
import { migrate } from '../shared/db/migrate.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { domainUrn } from '../shared/urn/kinds.ts'
import { addEdge, apply, column, create, dataset, job, upsert } from './support/changes.ts'
import { withDatabase, withEmptyDatabase } from './support/database.ts'
import { runProgram, withFolder } from './support/program.ts'
import { freePort } from './support/free-port.ts'
import { withRedisServer } from './support/redis.ts'
import { runCommand as run, type Outcome } from './support/run-command.ts'
import { withServer } from './support/server.ts'
import { withAnswer, withStandIn } from './support/stand-in-server.ts'
import { withTlsFront } from './support/tls-front.ts'

t.test('usage', async (t) => {
  t.test('help tells every command in its group, and every option, and ends with 0', async (t) => {
    const { code, out } = await run([])
    t.equal(code, 0)
    t.strictSame((await run(['--help'])).out, out)
    t.strictSame((await run(['help'])).out, out)
    for (const group of ['Run:', 'Loads:', 'Read:', 'Domains:', 'Tokens:', 'Help:'])
      t.equal(out.filter((line) => line === group).length, 1, group)
    for (const { name, open } of commandTable) {
      t.ok(
        out.some((line) => line.startsWith(`  ${name} `)),
        name
      )
      const help = await run([...name.split(' '), '--help'])
      t.equal(help.code, 0)
      t.match(help.out[0], `Usage: tributary ${name}`)
      const { options } = await open()
      t.equal('json' in options, !['up', 'serve', 'work', 'completion'].includes(name), `${name} --json`)
      for (const option of Object.keys(options))
        t.ok(
          help.out.some((line) => line.startsWith(`  --${option} `)),
          `${name} --${option}`
        )
      t.strictSame((await run(['help', ...name.split(' ')])).out, help.out, `help ${name}`)
    }
    t.match(await run(['help', 'token']), { code: 0, out: [/^Usage: tributary token/] })
    t.match(await run(['help', 'load', 'nothing']), {
      code: 1,
      out: { length: 0 },
      err: [/^Unknown command load nothing\./]
    })
    for (const flag of ['--version', '-v'])
      t.match(await run([flag]), { code: 0, out: [/^\d+\.\d+\.\d+/], err: { length: 0 } }, flag)
  })

  t.test('suggests a word that is nearly the one given', async (t) => {
    t.match(await run(['lod', 'x']), {
      code: 1,
      err: [/^tributary: unknown command 'lod'\. Did you mean load\? See tributary help\.$/]
    })
    t.match(await run(['token', 'revok', 'x']), {
      code: 1,
      err: [/^tributary token: unknown command 'revok'\. Did you mean revoke\? See tributary help token\.$/]
    })
    t.match(await run(['lineage', 'x', '--colums']), {
      code: 1,
      err: [
        /^tributary lineage: unknown option '--colums'\. Did you mean --columns\? See tributary help lineage\.$/
      ]
    })
    t.match(await run(['load', 'status', 'x', '--folow']), { code: 1, err: [/Did you mean --follow\?/] })
  })

  t.test('options belong to the command that they follow', async (t) => {
    t.match(await run(['load', 'status', 'x', '--dry-run']), {
      code: 1,
      err: [/^tributary load status: unknown option '--dry-run'/]
    })
    t.match(await run(['load', '--dry-run', 'status', 'x']), {
      code: 1,
      err: [/^--dry-run is an option of tributary load, not of tributary load status\./]
    })
  })

  t.test('a shell completes commands, options and values', async (t) => {
    const complete = async (...words: string[]): Promise<string[]> => {
      const script = `${(await run(['completion', 'bash'])).out.join('\n')}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tributary; printf '%s\\n' "\${COMPREPLY[@]}"`
      const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', 'tributary', ...words], {
        encoding: 'utf8'
      })
      t.equal(stderr, '')
      return stdout.split('\n').filter((word) => word !== '')
    }
    const first = [...new Set(commandTable.map(({ name }) => name.split(' ')[0]))]
    t.strictSame(await complete(''), [...first, 'help'])
    t.strictSame(await complete('token', ''), ['create', 'list', 'revoke'])
    t.strictSame(await complete('load', 'st'), ['status'])
    t.strictSame(await complete('load', 'status', 'x', '--f'), ['--follow'])
    t.strictSame(await complete('lineage', '--direction', ''), ['upstream', 'downstream', 'both'])
    t.strictSame(await complete('load', '--source', ''), [])
    for (const shell of ['zsh', 'fish']) {
      const { code, out } = await run(['completion', shell])
      t.equal(code, 0)
      for (const { name } of commandTable)
        t.ok(
          out.some((line) => line.includes(name)),
          `${shell}: ${name}`
        )
    }
    t.match(await run(['completion', 'tcsh']), { code: 1, err: [/takes bash, zsh or fish, not tcsh/] })
  })

  t.test('the command may be executed as it is built, for npx keeps a link to it', async (t) => {
    t.doesNotThrow(() => accessSync(packagePath('dist/bin/tributary.js'), constants.X_OK))
  })

  t.test('a client starts without a database driver, a server or a queue', async (t) => {
    for (const { name } of commandTable.filter(({ name }) =>
      /^(load|lineage|search|resolve|export|domain)/.test(name)
    )) {
      const [, path = ''] =
        new RegExp(`name: '${name}',[^]*?import\\('\\./(.*?)'\\)`).exec(
          readFileSync(packagePath('bin/command-table.ts'), 'utf8')
        ) ?? []
      t.strictSame(
        packagesBehind(['bin/tributary.ts', 'bin/command-line.ts', 'bin/terminal.ts', `bin/${path}`]),
        ['commander', 'string-width'],
        name
      )
    }
  })

  t.test('wrong options are refused in one line, with 1', async (t) => {
    for (const args of [
      ['bogus'],
      ['load'],
      ['load', 'a', 'b'],
      ['load', 'a', '--nope'],
      ['token'],
      ['lineage'],
      ['token', 'create'],
      ['token', 'revoke'],
      ['token', 'bogus'],
      ['load', 'a', '--wait']
    ]) {
      const { code, out, err } = await run(args)
      t.same({ code, out, errors: err.length }, { code: 1, out: [], errors: 1 }, args.join(' '))
    }
  })

  t.test('says what is wrong with an operand, a value or a file', async (t) => {
    t.match(await run(['lineage', 'a', 'b']), {
      code: 1,
      err: [/^tributary lineage takes REFERENCE only, not also b\./]
    })
    t.match(await run(['token']), {
      code: 1,
      err: [/^tributary token needs a command: create, list or revoke\./]
    })
    for (const wait of [['--wait', '-1'], ['--wait=-1']])
      t.match(
        await run(['load', 'a', ...wait], { env: { TRIBUTARY_TOKEN: 'x' } }),
        { code: 1, err: [/^--wait takes seconds, not -1\./] },
        wait.join(' ')
      )
    t.match(await run(['load', '/no/such/file'], { env: { TRIBUTARY_TOKEN: 'x' } }), {
      code: 1,
      err: [/^There is no file \/no\/such\/file\.$/]
    })
  })

  t.test('a configuration that cannot be used, or no database, ends with 78', async (t) => {
    t.match(await run(['doctor'], { env: { PORT: 'x', LOG_LEVEL: 'y' } }), {
      code: 78,
      err: [/PORT.*\n.*LOG_LEVEL/]
    })
    for (const command of ['serve', 'work', 'migrate']) {
      t.match(await run([command]), { code: 78, err: [/needs DATABASE_URL/] })
      const refused = await run([command], { env: { DATABASE_URL: 'postgres://me:hidden@127.0.0.1:1/x' } })
      t.match(refused, { code: 78, err: [/does not answer: .*ECONNREFUSED/] })
      t.notMatch(refused.err[0], 'hidden')
    }
    t.match(await run(['token', 'list']), { code: 78, err: [/no DATABASE_URL/] })
  })

  t.test('as a process it ends with the code and prints the line', async (t) => {
    const program = runProgram(t, 'bin/tributary.js', ['serve'], { cwd: '/' })
    t.equal(await program.ended, 78)
    t.match(program.said(), /^tributary serve needs DATABASE_URL.*\n$/)
  })
})

t.test('expiry', async (t) => {
  t.same(parseExpiry('30d'), { lifetimeMs: 30 * 86_400_000 })
  t.same(parseExpiry('90m'), { lifetimeMs: 5_400_000 })
  t.same(parseExpiry('2030-06-01'), { expiresAt: new Date('2030-06-01T00:00:00Z') })
  for (const text of ['', '0d', '30', 'tomorrow', '-1d', '2030-13-01'])
    t.throws(() => parseExpiry(text), /--expires takes/, text)
})

t.test('migrate brings an empty database up, and says so once', async (t) => {
  const { url } = await withEmptyDatabase(t)
  const env = { DATABASE_URL: url }
  t.match(await run(['doctor'], { env }), {
    code: 1,
    out: [
      /node/,
      /configuration/,
      /database/,
      /durability/,
      /clock/,
      /connections/,
      /WRONG {2}schema: has not been migrated to this version/,
      /queue/
    ]
  })
  for (const command of [
    ['token', 'create', '--name', 'x'],
    ['token', 'list'],
    ['token', 'revoke', 'x'],
    ['sign-in', '--token', 'x']
  ])
    t.match(
      await run(command, { env }),
      { code: 78, err: [/^The database has not been migrated to this version: run `tributary migrate`\.$/] },
      command.join(' ')
    )
  t.match(await run(['migrate'], { env }), { code: 0, out: [/^Applied 0001-/] })
  t.match(await run(['migrate', '--json'], { env }), { code: 0, out: ['{"applied":[]}'] })
})

t.test('token', async (t) => {
  const { db, url } = await withDatabase(t)
  await migrate(db)
  const env = { DATABASE_URL: url }

  t.test('create prints the token alone; list shows it without its text; revoke ends it', async (t) => {
    const created = await run(
      ['token', 'create', '--name', 'Airflow prod', '--scopes', 'read,write', '--expires', '30d'],
      { env }
    )
    t.match(created, { code: 0, out: [/^trib_\w+$/] })
    t.equal(created.out.length, 1)
    const listed = await run(['token', 'list', '--json'], { env })
    const record: { id: string; name: string; expiresAt: string } = JSON.parse(listed.out[0] ?? '')
    t.match(record, { name: 'Airflow prod', scopes: ['read', 'write'], revokedAt: null })
    t.ok(Math.abs(Date.parse(record.expiresAt) - Date.now() - 30 * 86_400_000) < 60_000)
    t.notMatch(listed.out[0], created.out[0])
    t.match(await run(['token', 'revoke', record.id], { env }), { code: 0, out: [/is revoked/] })
    t.match(await run(['token', 'list'], { env }), {
      code: 0,
      out: [/\tAirflow prod\tread,write\t\trevoked \d{4}-\d\d-\d\d\t…\w+\t$/]
    })
  })

  t.test('create takes the name of a domain', async (t) => {
    await apply(db, { kind: 'createDomain', domainUrn: domainUrn('4711'), name: 'Finance' })
    const { out } = await run(['token', 'create', '--name', 'x', '--domain', 'Finance', '--json'], { env })
    t.match(JSON.parse(out[0] ?? ''), {
      domainUrn: 'urn:li:domain:4711',
      createdAt: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
    })
    t.match(await run(['token', 'create', '--name', 'x', '--domain', 'Nowhere'], { env }), {
      code: 1,
      out: { length: 0 },
      err: [
        /^INVALID_URN: --domain must be a URN such as .*, or the name of an entity: Nothing is called "Nowhere"/
      ]
    })
  })

  t.test('create suggests only domains for the name of a domain', async (t) => {
    await apply(db, { kind: 'createDomain', domainUrn: domainUrn('4713'), name: 'Accounting' })
    await apply(db, ...create(dataset('accountin')))
    t.match(await run(['token', 'create', '--name', 'x', '--domain', 'Accountin'], { env }), {
      code: 1,
      err: [/Nothing is called "Accountin"; did you mean urn:li:domain:4713\?$/]
    })
  })

  t.test('create takes several domains, and list shows them', async (t) => {
    await apply(db, { kind: 'createDomain', domainUrn: domainUrn('4712'), name: 'Sales' })
    const create = ['token', 'create', '--name', 'two', '--domain', 'Sales', '--domain', 'Finance', '--json']
    const { out } = await run(create, { env })
    const domainUrns = ['urn:li:domain:4712', 'urn:li:domain:4711']
    t.match(JSON.parse(out[0] ?? ''), { domainUrns, domainUrn: domainUrns[0] })
    t.match(await run(['token', 'list'], { env }), {
      out: [/\ttwo\tread,write\tSales, Finance\tforever\t/]
    })
    t.match(JSON.parse((await run(['token', 'list', '--json'], { env })).out[0] ?? ''), { domainUrns })
  })

  t.test('impossible values are refused with 1', async (t) => {
    t.match(await run(['token', 'create', '--name', 'x', '--domain', ''], { env }), {
      code: 1,
      err: [/^INVALID_URN: --domain/]
    })
    t.match(await run(['token', 'create', '--name', 'x', '--scopes', 'all'], { env }), {
      code: 1,
      err: [/read, write, admin/]
    })
    t.match(await run(['token', 'create', '--name', 'x', '--domain', 'urn:li:domain:none'], { env }), {
      code: 1,
      err: [/urn:li:domain:none does not exist/]
    })
    t.match(await run(['token', 'create', '--name', 'x', '--expires', '2001-01-01'], { env }), {
      code: 1,
      err: [/expired/]
    })
    t.match(await run(['token', 'revoke', 'none'], { env }), { code: 1, err: [/NOT_FOUND/] })
  })
})

t.test('sign-in', async (t) => {
  const { url, token, databaseUrl, rest, tokenWith } = await withServer(t)
  const env = { DATABASE_URL: databaseUrl, TRIBUTARY_URL: `${url}/below/a/path` }
  const signIn = async (link = '') =>
    rest({ method: 'POST', url: '/session', token: null, body: { code: link.split('#code=')[1] } })

  t.test('prints a link alone, which signs a browser in once, with the rights of the token', async (t) => {
    const { code, out, err } = await run(['sign-in'], { env: { ...env, TRIBUTARY_TOKEN: token } })
    t.equal(code, 0)
    t.equal(out.length, 1)
    t.match(out[0], new RegExp(`^${url}/below/a/path/ui/sign-in#code=[0-9a-f]{32}$`))
    t.match(err, [/^Signs one browser in as urn:li:corpuser:\S+ \(admin\), once, within 5 minutes\.$/])
    t.match(await signIn(out[0]), { status: 200, body: { scopes: ['admin'] } })
    t.equal((await signIn(out[0])).status, 401)
  })

  t.test('takes another token by its id', async (t) => {
    const { out } = await run(['token', 'create', '--name', 'reader', '--scopes', 'read', '--json'], { env })
    const { id } = JSON.parse(out[0] ?? '')
    const made = await run(['sign-in', '--token-id', id, '--json'], { env })
    const facts: { url: string } = JSON.parse(made.out[0] ?? '')
    t.match(facts, { tokenId: id, actorUrn: 'urn:li:corpuser:reader', expiresInSeconds: 300 })
    t.match(await signIn(facts.url), { body: { actor: 'urn:li:corpuser:reader', scopes: ['read'] } })
    await run(['token', 'revoke', id], { env })
    t.match(await run(['sign-in', '--token-id', id], { env }), {
      code: 1,
      out: { length: 0 },
      err: [/^NOT_FOUND: The token is unknown, expired or revoked/]
    })
  })

  t.test('needs a token of this catalog, and one only', async (t) => {
    t.match(await run(['sign-in'], { env }), { code: 1, err: [/^A token is needed/] })
    t.match(await run(['sign-in', '--token', 'trib_wrong'], { env }), { code: 1, err: [/^NOT_FOUND/] })
    const more = ['--token', await tokenWith(['read']), '--token-id', 'x']
    t.match(await run(['sign-in', ...more], { env }), { code: 1, err: [/not both/] })
  })

  t.test(
    'npm start shows a link on a terminal and in a pipe, and none in a file or the journal',
    async (t) => {
      const file = join(withFolder(t), 'out')
      const script = `import(${JSON.stringify(packagePath('dist/dev/browser-link.js'))}).then(({ isOutputKept }) => console.log(isOutputKept(process.env)))`
      const isKept = (stdout: 'pipe' | number, journal?: string): string | null => {
        const { stdout: said } = spawnSync(process.execPath, ['-e', script], {
          encoding: 'utf8',
          stdio: ['ignore', stdout, 'inherit'],
          env: { ...process.env, ...(journal === undefined ? {} : { JOURNAL_STREAM: journal }) }
        })
        return said
      }
      t.equal(isKept('pipe'), 'false\n')
      t.equal(isKept('pipe', '8:1234'), 'true\n')
      const descriptor = openSync(file, 'w')
      isKept(descriptor)
      closeSync(descriptor)
      t.equal(readFileSync(file, 'utf8'), 'true\n')
    }
  )
})

t.test('lineage', async (t) => {
  const { url, token, db } = await withServer(t)
  const env = { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token, LANG: 'C.UTF-8' }
  const [a, b, c, d, x, y] = [dataset('a'), dataset('b'), dataset('c'), dataset('d'), job('x'), dataset('y')]
  // one call each, so that ids, and with them the order within a degree, follow the names
  for (const urn of [a, b, c, d, x, y]) await apply(db, ...create(urn))
  for (const [up, down] of [
    [a, b],
    [a, c],
    [b, d],
    [c, d],
    [d, a],
    [d, d],
    [x, y]
  ] as const)
    await apply(db, addEdge(up, down))
  await apply(
    db,
    addEdge(y, x),
    addEdge(column(a, 'p'), column(b, 'q')),
    upsert(y, 'datasetProperties', { name: '\u001b[31mred\u202e\nline' })
  )
  const lineage = (...args: string[]): Promise<Outcome> => run(['lineage', ...args], { env })

  t.test('is a tree: each entity once at its nearest place, and marked at later ones', async (t) => {
    t.strictSame(await lineage(a), {
      code: 0,
      err: [],
      drawn: [],
      questions: [],
      out: [
        `Downstream of ${a}`,
        'a (DATASET, hive)',
        '├─ b (DATASET, hive)',
        '│  └─ d (DATASET, hive)',
        '│     └─ a (DATASET, hive) (again)',
        '└─ c (DATASET, hive)',
        '   └─ d (DATASET, hive) (again)',
        '3 entities within 2 hops, complete'
      ]
    })
    t.strictSame(
      (await run(['lineage', b, '--direction', 'upstream', '--hops', '1'], { env: { ...env, LANG: 'C' } }))
        .out,
      [`Upstream of ${b}`, 'b (DATASET, hive)', '`- a (DATASET, hive)', '1 entity within 1 hop, complete'],
      'in plain characters where the terminal has no others'
    )
  })

  t.test('begins at the entity that a short reference means', async (t) => {
    for (const reference of ['hive:d', 'd@PROD', 'd'])
      t.equal((await lineage(reference, '--direction', 'upstream')).out[0], `Upstream of ${d}`, reference)
  })

  t.test('shows the nearest up to a limit, and counts the others', async (t) => {
    t.strictSame((await lineage(a, '--limit', '2')).out.slice(1), [
      'a (DATASET, hive)',
      '├─ b (DATASET, hive)',
      '│  └─ (+1 more)',
      '└─ (+1 more)',
      '3 entities within 2 hops, complete; the nearest 1 are shown (--limit shows more, --json all)'
    ])
    t.strictSame(
      (await lineage(a, '--limit', '5')).out.slice(4, 7),
      ['│     └─ (+1 more)', '└─ c (DATASET, hive)', '   └─ d (DATASET, hive) (again)'],
      'a mark is a line as well'
    )
  })

  t.test(
    'follows both directions and columns, and lists entities below hidden ones separately',
    async (t) => {
      t.match(await lineage(d, '--direction', 'both'), {
        code: 0,
        out: [
          `Upstream of ${d}`,
          /^d/,
          /b/,
          /a/,
          /d.*again/,
          /c/,
          /a.*again/,
          /3 entities/,
          '',
          `Downstream of ${d}`
        ]
      })
      t.strictSame((await lineage(a, '--columns')).out.slice(1), [
        'a.p (SCHEMA_FIELD, hive)',
        '└─ b.q (SCHEMA_FIELD, hive)',
        '1 entity within 1 hop, complete'
      ])
      t.strictSame(
        (await lineage(y, '--types', 'DATA_JOB')).out.slice(2),
        [
          '└─ x (DATA_JOB, airflow)',
          '   └─  [31mred line (DATASET, hive) (again)',
          '1 entity within 1 hop, complete'
        ],
        'and no name steers the terminal'
      )
      t.strictSame((await lineage(a, '--types', 'DATASET')).out.length, 8)
      t.strictSame((await lineage(x, '--types', 'DATA_JOB')).out.slice(1), [
        'x (DATA_JOB, airflow)',
        '0 entities within 0 hops, complete'
      ])
    }
  )

  t.test('is printed whole as JSON', async (t) => {
    const whole = (
      outcome: Outcome
    ): {
      urn: string
      lineage: {
        direction: string
        complete: boolean
        total: number
        nodes: { urn: string; degree: number }[]
        edges: { upstream: string; downstream: string }[]
      }[]
    } => JSON.parse(outcome.out.join('\n'))
    const { urn, lineage: parts } = whole(await lineage(a, '--json', '--direction', 'both', '--limit', '1'))
    t.equal(urn, a)
    t.strictSame(
      parts.map(({ direction, complete, total }) => [direction, complete, total]),
      [
        ['UPSTREAM', true, 3],
        ['DOWNSTREAM', true, 3]
      ]
    )
    t.strictSame(
      parts[1]?.nodes.map((node) => `${node.degree} ${node.urn}`),
      [`0 ${a}`, `1 ${b}`, `1 ${c}`, `2 ${d}`]
    )
    t.strictSame(
      parts[1]?.edges.map(({ upstream, downstream }) => [upstream, downstream]),
      [
        [a, b],
        [a, c],
        [b, d],
        [c, d],
        [d, a],
        [d, d]
      ]
    )
    t.match(whole(await lineage(x, '--json', '--types', 'CHART')).lineage, [
      { total: 0, nodes: [{ urn: x }], edges: { length: 0 } }
    ])
  })

  t.test('ends with 1 when it is refused, and with 4 after no answer or an incomplete one', async (t) => {
    t.match(await lineage(dataset('absent')), { code: 1, out: { length: 0 }, err: [/NOT_FOUND: .*absent/] })
    t.match(await lineage('nonsense'), { code: 1, err: [/NOT_FOUND: .*nonsense/] })
    t.match(await lineage('urn:li:nonsense'), { code: 1, err: [/INVALID_URN/] })
    t.match(await lineage('mysql:a'), {
      code: 1,
      err: [/NOT_FOUND: .*did you mean urn:li:dataset:.*hive,a,PROD/]
    })
    t.match(await lineage(a, '--token', 'trib_wrong'), { code: 1, err: [/UNAUTHENTICATED/] })
    t.match(await lineage(a, '--types', 'TABLE'), {
      code: 1,
      err: [/unknown entity type TABLE\. Allowed: .*DATASET, .*DASHBOARD/]
    })
    t.match(await lineage(a, '--direction', 'sideways'), { code: 1, err: [/--direction takes/] })
    for (const args of [
      ['--hops', '0'],
      ['--hops', '1001'],
      ['--limit', 'all']
    ])
      t.match(await lineage(a, ...args), { code: 1, err: [/takes a number from 1 to/] }, args.join(' '))
    t.match(await lineage(a, '--url', `http://127.0.0.1:${await freePort()}`), {
      code: 4,
      err: [/does not answer: .*ECONNREFUSED/]
    })
    t.match(await lineage(a, '--url', await withAnswer(t, 200, '<html>')), {
      code: 4,
      err: [/Is this a Tributary server/]
    })
    for (const args of [[], ['--json']])
      t.match(await lineage(a, '--url', await withCutAnswer(t), ...args), { code: 4, err: [/was cut off/] })
  })
})

t.test('a server that is not there, or not ours, is told apart', async (t) => {
  const said = async (url: string): Promise<string> => {
    const { code, err } = await run(['load', 'list', '--url', url, '--token', 'x'])
    t.ok(code === 1 || code === 4, `${code}`)
    t.equal(err.length, 1)
    return err.join()
  }
  for (const status of [404, 405, 501])
    t.match(
      await said(await withAnswer(t, status, '<html>')),
      new RegExp(`status ${status}\\. Does another program listen there\\? Check --url and TRIBUTARY_URL\\.$`)
    )
  for (const status of [401, 413, 500, 502])
    t.match(await said(await withAnswer(t, status, '<html>')), new RegExp(`status ${status}\\.$`))
  t.match(
    await said('http://no-such-name.invalid'),
    /^The name no-such-name\.invalid of http:\S+ does not resolve \(E\w+\)\. Check --url and TRIBUTARY_URL/
  )
  const plain = await withAnswer(t, 200, '{}')
  t.match(
    await said(plain.replace('http:', 'https:')),
    /^The server at https:\S+ does not speak TLS \(\w+\)\. Does its address begin with http: instead/
  )
  const front = await withTlsFront(t, {
    protocol: 'plain',
    target: { host: '127.0.0.1', port: Number(new URL(plain).port) }
  })
  t.match(
    await said(`https://localhost:${front.port}`),
    /^The certificate of https:\S+ is not trusted: .* NODE_EXTRA_CA_CERTS/
  )
  const redirecting = await withStandIn(t, (_request, response) =>
    response.writeHead(301, { location: 'https://catalog.example/loads' }).end()
  )
  t.match(await said(redirecting), /It refers to https:\/\/catalog\.example: give that address with --url/)
})

t.test('a text that cannot be a token is refused before anything is sent', async (t) => {
  const url = await withAnswer(t, 200, '{"loads":[]}')
  const file = join(withFolder(t), 'a.ndjson')
  writeFileSync(file, '{}\n')
  for (const token of ['one\ntwo', 'two words', 'tokén', '\u{1F511}'])
    for (const args of [
      ['load', 'list', '--url', url],
      ['load', file, '--url', url]
    ]) {
      t.match(await run([...args, '--token', token]), { code: 1, err: [/^--token is not a token: /] })
      t.match(await run(args, { env: { TRIBUTARY_TOKEN: token } }), {
        code: 1,
        err: [/^TRIBUTARY_TOKEN is not a token: /]
      })
    }
})

t.test('doctor', async (t) => {
  const { db, url } = await withDatabase(t)

  t.test('finds nothing wrong if nothing is wrong', async (t) => {
    const port = String(await freePort())
    const { code, out } = await run(['doctor', '--json'], { env: { DATABASE_URL: url, PORT: port } })
    const findings: { check: string; verdict: string }[] = out.map((line) => JSON.parse(line))
    // the temporary database of the tests is not durable
    const isDurable = findings.every(({ check, verdict }) => check !== 'durability' || verdict === 'fine')
    t.same(
      findings.filter(({ check, verdict }) => check !== 'durability' && verdict === 'wrong'),
      []
    )
    t.equal(code, isDurable ? 0 : 1)
  })

  t.test('only notes a stranger on the usual port, where no address is set', async (t) => {
    const stranger = new URL(await withAnswer(t, 200, '{"name":"stranger"}'))
    for (const [env, verdict, text] of [
      [{ PORT: stranger.port }, 'note', /another program answers: set TRIBUTARY_URL/],
      [{ TRIBUTARY_URL: stranger.origin }, 'wrong', /another program answers: TRIBUTARY_URL names another/]
    ] as const) {
      const { out } = await run(['doctor', '--json'], { env: { DATABASE_URL: url, ...env } })
      t.match(
        out.map((line) => JSON.parse(line)).find(({ check }) => check === 'api'),
        { verdict, text }
      )
    }
  })

  t.test('finds loads that do not move, and a Redis that is away', async (t) => {
    await db.raw(`
      insert into load (id, state, format, mode, source, missing_references, actor, scopes, touched_at)
      values (gen_random_uuid(), 'applying', 'ndjson', 'merge', 'x', 'reject', 'urn:li:corpuser:x', '{write}', now() - interval '1 hour')`)
    const { code, out } = await run(['doctor'], {
      env: { DATABASE_URL: url, REDIS_URL: 'redis://127.0.0.1:1' }
    })
    t.equal(code, 1)
    t.ok(out.some((line) => /^WRONG {2}loads: 1 have made no progress/.test(line)))
    t.ok(out.some((line) => /^WRONG {2}queue: .*ECONNREFUSED/.test(line)))
  })

  t.test('says that no worker runs while chunks wait, and advises no retry that is refused', async (t) => {
    await db.raw(`
      insert into load (id, state, format, mode, source, missing_references, actor, scopes, is_atomic, seq)
      values (gen_random_uuid(), 'failed', 'ndjson', 'merge', 'x', 'reject', 'urn:li:corpuser:x', '{write}', true, nextval('change_seq'))`)
    t.ok(
      (await run(['doctor'], { env: { DATABASE_URL: url } })).out.some((line) =>
        /^note {3}worker: no worker is running, so no load would be applied: tributary work/.test(line)
      )
    )
    await db.raw(`
      insert into chunk (load_id, pass, first_line, record_count, payload, state)
      select id, 3, 1, 1, '', 'waiting' from load limit 1`)
    const { out } = await run(['doctor'], { env: { DATABASE_URL: url } })
    t.ok(
      out.some((line) =>
        /^WRONG {2}worker: no worker is running, and chunks wait \(1\): tributary work starts one/.test(line)
      ),
      out.join('\n')
    )
    t.ok(
      out.some((line) => /^note {3}loads: 1 atomic .* cannot be retried/.test(line)),
      out.join('\n')
    )
    t.notOk(out.some((line) => line.includes('load retry')))
  })

  t.test('asks the API and shows it the token', async (t) => {
    const server = await withServer(t)
    const env = { DATABASE_URL: url, TRIBUTARY_URL: server.url }
    const found = async (token: string) =>
      (await run(['doctor'], { env: { ...env, TRIBUTARY_TOKEN: token } })).out
    t.match((await found(server.token)).slice(-2), [/^ok {5}api: .* is ready/, /^ok {5}token: .* accepted/])
    t.match((await found('trib_wrong')).slice(-1), [
      /^WRONG {2}token: .* is not accepted: The server refused: UNAUTHENTICATED/
    ])
    t.match(
      (
        await run(['doctor'], {
          env: { ...env, TRIBUTARY_URL: `http://127.0.0.1:${await freePort()}`, TRIBUTARY_TOKEN: 'x' }
        })
      ).out.slice(-1),
      [/^WRONG {2}api: .*ECONNREFUSED/]
    )
  })

  t.test('finds a Redis that forgets', async (t) => {
    const redis = await withRedisServer(t, { args: ['--maxmemory-policy', 'allkeys-lru'] })
    if (redis === null) return
    const { out } = await run(['doctor'], { env: { DATABASE_URL: url, REDIS_URL: redis.url } })
    t.ok(out.some((line) => /^WRONG {2}queue: has the maxmemory-policy allkeys-lru/.test(line)))
    t.ok(out.some((line) => /^ok {5}queue: answers, Redis/.test(line)))
  })
})

/** The npm packages that these files import, directly or indirectly. */
function packagesBehind(files: readonly string[]): string[] {
  const seen = new Set<string>()
  const packages = new Set<string>()
  const open = [...files]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    for (const [, target = ''] of readFileSync(packagePath(file), 'utf8').matchAll(
      /^(?:import|export) (?!type )(?:[\w\s*{},]+ from )?'([^']+)'$/gm
    )) {
      if (target.startsWith('.')) open.push(join(dirname(file), target))
      else if (!target.startsWith('node:')) packages.add(target)
    }
  }
  return [...packages].sort()
}

/** A server that begins an export and breaks off. */
function withCutAnswer(t: Test): Promise<string> {
  return withStandIn(t, (_request, response) => {
    response.writeHead(200, { 'x-lineage-total': '2', 'x-lineage-complete': 'true' })
    response.write(
      `${JSON.stringify({ urn: dataset('a'), degree: 0, type: 'DATASET', name: 'a', platform: null, exists: true })}\n`,
      () => {
        response.destroy()
      }
    )
  })
}

t.test('what the command prints names it as a person there can call it', async (t) => {
  const root = packagePath('')
  const folder = withFolder(t)
  const bin = join(folder, 'bin')
  const installed = join(folder, 'installed')
  const elsewhere = join(folder, 'elsewhere')
  const other = join(folder, 'other')
  for (const each of [bin, join(installed, 'node_modules/.bin'), elsewhere, join(other, 'node_modules/.bin')])
    mkdirSync(each, { recursive: true })
  const ownFile = packagePath('dist/bin/tributary.js')
  symlinkSync(ownFile, join(bin, 'tributary'))
  symlinkSync(ownFile, join(installed, 'node_modules/.bin/tributary'))
  writeFileSync(join(other, 'node_modules/.bin/tributary'), '#!/bin/sh\n')

  t.equal(ownCommand({ PATH: `/usr/bin:${bin}` }, elsewhere), 'tributary', 'installed for every folder')
  t.equal(ownCommand({}, root), 'npx tributary', 'the checkout')
  t.equal(ownCommand({}, join(root, 'docs/how-to')), 'npx tributary', 'a folder of the checkout')
  t.equal(ownCommand({}, installed), 'npx tributary', 'a folder with the package')
  t.equal(ownCommand({ PATH: bin, npm_command: 'exec' }, installed), 'npx tributary', 'a PATH made by npm')
  t.equal(ownCommand({ INIT_CWD: root }), 'npx tributary', 'the folder where npm was called')
  // npx would fetch, or run, the package of somebody else
  t.equal(ownCommand({}, elsewhere), ownFile, 'a folder without the package')
  t.equal(ownCommand({}, other), ownFile, 'a folder with another package of the name')
  t.equal(ownCommand({ PATH: join(other, 'node_modules/.bin') }, elsewhere), ownFile)

  for (const command of ['npx tributary', '/opt/my tributary/tributary.js']) {
    const help = await run(['help', 'load', 'undo'], { command })
    t.equal(help.out[0], `Usage: ${command} load undo [options] <ID>`)
    t.equal((await run([], { command })).out.at(-1), `\`${command} help COMMAND\` tells more.`)
    t.match((await run(['lod'], { command })).err, [new RegExp(`See ${command} help\\.$`)])
    t.match((await run(['load'], { command })).err, [new RegExp(`See ${command} help load\\.$`)])
    t.match((await run(['serve'], { command })).err, [new RegExp(`run \`${command} up\``)])
    t.match((await run(['token', 'create'], { command })).err, [
      new RegExp(`${command} token create --name TEXT`)
    ])
  }
})
