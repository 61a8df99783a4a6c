/** What deletes asks a person first, and says what goes with it; a script is never asked. */
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { askPerson } from '../bin/ask-person.ts'
import { commandTable } from '../bin/command-table.ts'
import { migrate } from '../shared/db/migrate.ts'
import { withDatabase } from './support/database.ts'
import { runCommand, type Given, type Outcome } from './support/run-command.ts'
import { withServer } from './support/server.ts'
import { withStandIn } from './support/stand-in-server.ts'

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const lines = (...records: object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

type Run = (args: readonly string[], given?: Given) => Promise<Outcome>

/** The command asks this, changes nothing after any answer but yes, and asks nothing of a script or with --yes. */
async function asks(
  t: Test,
  run: Run,
  args: readonly string[],
  { question, isUnchanged }: { question: RegExp; isUnchanged: () => Promise<boolean> }
): Promise<void> {
  for (const answer of [null, '', 'n', 'no', 'yesterday', ' ', 'ja']) {
    const { code, out, err, questions } = await run(args, { isTty: true, answer })
    t.strictSame(
      { code, out, err },
      { code: 1, out: [], err: ['Nothing was changed.'] },
      `${args.join(' ')}: ${answer}`
    )
    t.equal(questions.length, 1)
    t.match(questions[0], question)
    t.match(questions[0], /\? \[y\/N\] $/)
  }
  t.ok(await isUnchanged(), 'nothing was changed')
}

t.test('on a server', async (t) => {
  const { url, token } = await withServer(t, { withWorker: true })
  const env = { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token }
  const run: Run = (args, given) => runCommand(args, { ...given, env: { NO_COLOR: '1', ...env } })
  const idOf = (outcome: Outcome): string => {
    const { id }: { id: string } = JSON.parse(outcome.out[0] ?? '')
    return id
  }
  const send = async (input: string, ...args: string[]): Promise<string> =>
    idOf(await run(['load', '-', '--json', ...args], { input }))

  await send(lines(...['a', 'b', 'c'].map((name) => ({ op: 'upsertEntity', urn: dataset(name) }))))

  t.test('domain delete says how many assets will be in no domain', async (t) => {
    const tree = async (): Promise<string> => (await run(['domain', 'tree', '--json'])).out.join()
    for (const [name, assets, question] of [
      ['Empty', [], /^Empty has no assets\. Delete it\?/],
      ['Single', ['a'], /^Single has 1 asset; it will be in no domain\. Delete it\?/],
      ['Sales', ['b', 'c'], /^Sales has 2 assets; they will be in no domain\. Delete it\?/]
    ] as const) {
      await run(['domain', 'create', name])
      if (assets.length > 0) await run(['domain', 'assign', name, ...assets.map(dataset)])
      const before = await tree()
      await asks(t, run, ['domain', 'delete', name], {
        question,
        isUnchanged: async () => (await tree()) === before
      })
      t.match(await run(['domain', 'delete', name], { isTty: true, answer: 'Y' }), {
        code: 0,
        out: [`${name} is deleted.`]
      })
    }
    for (const given of [{ isTty: false }, { isTty: true, args: ['--yes'] }]) {
      await run(['domain', 'create', 'Short'])
      t.match(await run(['domain', 'delete', 'Short', ...(given.args ?? [])], given), {
        code: 0,
        questions: { length: 0 }
      })
    }
  })

  t.test(
    'domain rules set says how many rules it replaces, and asks nothing if there are none',
    async (t) => {
      await run(['domain', 'create', 'People'])
      const folder = t.testdir({
        'two.json': JSON.stringify(['hr.*', 'staff.*'].map((name) => ({ name, domain: 'People' }))),
        'one.json': JSON.stringify([{ name: 'hr.*', domain: 'People' }]),
        'none.json': '[]'
      })
      const set = (name: string): string[] => ['domain', 'rules', 'set', `${folder}/${name}.json`]
      const rules = async (): Promise<string> => (await run(['domain', 'rules', 'list', '--json'])).out.join()
      t.match(await run(set('two'), { isTty: true }), { code: 0, questions: { length: 0 } })
      const before = await rules()
      const isUnchanged = async (): Promise<boolean> => (await rules()) === before
      await asks(t, run, set('one'), {
        question: /^All 2 domain rules in force are replaced by 1 rule\. Replace them\?/,
        isUnchanged
      })
      await asks(t, run, set('none'), {
        question: /^All 2 domain rules in force are removed\. Remove them\?/,
        isUnchanged
      })
      t.match(await run([...set('one'), '--yes'], { isTty: true }), { code: 0, questions: { length: 0 } })
      t.match(await run(set('none'), { isTty: true, answer: 'yes' }), {
        code: 0,
        questions: [/^The domain rule in force is removed\. Remove it\?/]
      })
    }
  )

  t.test('load undo says what the load did; its dry run asks nothing', async (t) => {
    const edge = { upstreamUrn: dataset('a'), downstreamUrn: dataset('b') }
    const id = await send(lines(edge), '--source', 'nightly')
    const unchanged = async (): Promise<boolean> =>
      !(await run(['load', 'status', id, '--json'])).out.join().includes('undoneBy')
    await asks(t, run, ['load', 'undo', id.slice(0, 8)], {
      question: new RegExp(`^Load ${id} of nightly applied 1 record; that is undone, except what`),
      isUnchanged: unchanged
    })
    t.match(await run(['load', 'undo', id, '--dry-run'], { isTty: true }), {
      code: 0,
      questions: { length: 0 }
    })
    t.match(await run(['load', 'undo', id], { isTty: true, answer: 'y' }), {
      code: 0,
      questions: { length: 1 }
    })
    const other = await send(lines(edge))
    t.match(await run(['load', 'undo', other]), { code: 0, questions: { length: 0 } }, 'a script')
  })

  t.test('load cancel of a load that has ended is refused, and asks nothing', async (t) => {
    const id = await send(lines({ op: 'upsertEntity', urn: dataset('a') }))
    t.match(await run(['load', 'cancel', id], { isTty: true }), {
      code: 1,
      err: [/CONFLICT/],
      questions: { length: 0 }
    })
  })
})

t.test('load cancel says what stays and what is left out', async (t) => {
  const cancelled: string[] = []
  const load = (state: string): string =>
    JSON.stringify({
      id: '0b8f2c1e-0000-4000-8000-000000000000',
      state,
      error: null,
      counts: { received: 9, applied: 3, unchanged: 0, rejected: 0 }
    })
  const url = await withStandIn(t, (request, response) => {
    const isCancel = request.url?.endsWith('/cancel') === true
    if (isCancel) cancelled.push(request.url ?? '')
    response.end(load(isCancel ? 'cancelled' : 'applying'))
  })
  const run: Run = (args, given) =>
    runCommand(args, { ...given, env: { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: 'x' } })
  const args = ['load', 'cancel', '0b8f2c1e-0000-4000-8000-000000000000']
  await asks(t, run, args, {
    question:
      /is applying: 3 records applied, 6 waiting; what is applied stays, the rest is left out\. Cancel it\?/,
    isUnchanged: async () => cancelled.length === 0
  })
  for (const given of [{ isTty: true, answer: 'yes' }, { isTty: false }])
    t.match(await run(args, given), { code: 0, out: [/cancelled/] })
  t.match(await run([...args, '--yes'], { isTty: true }), { code: 0, questions: { length: 0 } })
  t.equal(cancelled.length, 3)
})

t.test('token revoke names the token, and asks nothing about one that is revoked', async (t) => {
  const { db, url } = await withDatabase(t)
  await migrate(db)
  const run: Run = (args, given) => runCommand(args, { ...given, env: { DATABASE_URL: url } })
  const create = async (name: string): Promise<string> => {
    const { id }: { id: string } = JSON.parse(
      (await run(['token', 'create', '--name', name, '--json'])).out[0] ?? ''
    )
    return id
  }
  const id = await create('dbt')
  await asks(t, run, ['token', 'revoke', id.slice(0, 12)], {
    question: new RegExp(`^Whoever uses the token ${id} \\(dbt\\) will be refused\\. Revoke it\\?`),
    isUnchanged: async () => (await run(['token', 'list', '--json'])).out.join().includes('"revokedAt":null')
  })
  t.match(await run(['token', 'revoke', id], { isTty: true, answer: 'y' }), {
    code: 0,
    questions: { length: 1 }
  })
  t.match(await run(['token', 'revoke', id], { isTty: true }), { code: 0, questions: { length: 0 } })
  const other = await create('other')
  t.match(await run(['token', 'revoke', other, '--yes'], { isTty: true }), {
    code: 0,
    questions: { length: 0 }
  })
  t.match(await run(['token', 'revoke', await create('third')]), { code: 0, questions: { length: 0 } })
  t.match(await run(['token', 'revoke', 'none'], { isTty: true }), { code: 1, questions: { length: 0 } })
})

t.test('exactly the commands that delete take --yes', async (t) => {
  const found: string[] = []
  for (const { name, open } of commandTable) if ('yes' in (await open()).options) found.push(name)
  t.strictSame(found, ['load cancel', 'load undo', 'domain delete', 'domain rules set', 'token revoke'])
})

t.test('a person answers with a line; Ctrl-C, Ctrl-D and the end of the input are no answer', async (t) => {
  for (const [keys, answer, shown] of [
    ['y\r', 'y', /Delete it\? /],
    ['no\n', 'no', /^/],
    ['\r', '', /^/],
    ['x\u007Fyes\r', 'yes', /^/],
    ['\u0003', null, /\n$/],
    ['y\u0003', null, /\n$/],
    ['\u0004', null, /\n$/]
  ] as const) {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const answered = askPerson('Delete it? ', input, output)
    input.write(keys)
    t.equal(await answered, answer, JSON.stringify(keys))
    t.match(String(output.read()), shown)
    t.ok(input.isPaused(), 'nothing more is read, so that the process can end')
  }
  const [input, output] = [new PassThrough(), new PassThrough()]
  const answered = askPerson('Delete it? ', input, output)
  input.end()
  t.equal(await answered, null)
})
