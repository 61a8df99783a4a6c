/**
 * Runs the scripts of docs/how-to/load-from-an-etl-job.md: they do what the page says, even on a bad network.
 */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import typescript from 'typescript'
import { packagePath } from '../shared/platform/paths.ts'
import { withCuttingProxy } from './support/cutting-proxy.ts'
import { withFolder } from './support/program.ts'
import { withServer } from './support/server.ts'
import { skipUnless } from './support/skip.ts'

t.setTimeout(300_000)

const page = readFileSync(packagePath('docs/how-to/load-from-an-etl-job.md'), 'utf8')

/** The block of code below a heading of the page. */
function recipe(heading: string): string {
  const [, block = ''] =
    new RegExp(`^### ${heading}\\n[^]*?^\`\`\`\\w+\\n([^]*?)^\`\`\``, 'm').exec(page) ?? []
  if (block === '') throw new Error(`docs/how-to/load-from-an-etl-job.md has no recipe for ${heading}`)
  return block
}

type Run = { code: number | null; out: string; err: string }

function run([command, args]: [string, string[]], env: Record<string, string>): Promise<Run> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const said: Run = { code: null, out: '', err: '' }
  child.stdout.on('data', (part) => {
    said.out += String(part)
  })
  child.stderr.on('data', (part) => {
    said.err += String(part)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      resolve({ ...said, code })
    })
  })
}

const has = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0

const asset = (index: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,recipe.table_${index},PROD)`
const good = Array.from(
  { length: 5_000 },
  (_, index) => `${JSON.stringify({ op: 'upsertEntity', urn: asset(index) })}\n`
).join('')

t.test('recipes', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const folder = withFolder(t)
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content, { mode: 0o755 })
    return join(folder, name)
  }
  const files = { good: file('good.ndjson', good), bad: file('bad.ndjson', `${good}no json\n`) }

  /** The description of each script on the page. */
  async function check(t: Test, toCommand: (path: string) => [string, string[]]): Promise<void> {
    const env = { TRIBUTARY_URL: server.url, TRIBUTARY_TOKEN: server.token }
    t.match(await run(toCommand(files.good), env), { code: 0, out: '' }, 'all applied')
    const rejected = await run(toCommand(files.bad), env)
    t.equal(rejected.code, 2, rejected.err)
    t.match(JSON.parse(rejected.out), { line: 5_001, code: 'BAD_REQUEST' })
    const refused = await run(toCommand(files.good), { ...env, TRIBUTARY_TOKEN: 'trib_wrong' })
    t.equal(refused.code, 1, 'refused')
    t.match(refused.err, /UNAUTHENTICATED/)
    const before = await countDone()
    const proxy = await withCuttingProxy(t, server.url, [{ afterBytes: 200_000 }, 'the answer'])
    const cut = await run(toCommand(files.good), { ...env, TRIBUTARY_URL: proxy.url })
    t.equal(cut.code, 0, cut.err)
    t.ok(proxy.uploads() >= 3)
    t.equal(
      await countDone(),
      before + 1,
      'one load comes of an upload that was cut and an answer that was lost'
    )
  }

  async function countDone(): Promise<number> {
    const {
      rows: [row]
    }: { rows: { count: number }[] } = await server.db.raw(
      `select count(*)::int as count from load where state = 'done'`
    )
    return row?.count ?? 0
  }

  t.test('curl', async (t) => {
    if (skipUnless(t, has('bash', '--version') && has('curl', '--version'), 'there is no bash or no curl'))
      return
    const path = file('load.sh', recipe('curl'))
    await check(t, (input) => ['bash', [path, input]])
  })

  t.test('Python', async (t) => {
    if (skipUnless(t, has('python3', '--version'), 'there is no python3')) return
    const path = file('load.py', recipe('Python'))
    await check(t, (input) => ['python3', [path, input]])
  })

  t.test('TypeScript', async (t) => {
    const { outputText } = typescript.transpileModule(recipe('TypeScript'), {
      compilerOptions: { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022 }
    })
    const path = file('load.mjs', outputText)
    await check(t, (input) => [process.execPath, [path, input]])
  })

  t.test('cron', async (t) => {
    const path = file('nightly.sh', recipe('cron'))
    const shim = file(
      'tributary',
      `#!/bin/sh\nexec ${process.execPath} ${packagePath('dist/bin/tributary.js')} "$@"\n`
    )
    chmodSync(shim, 0o755)
    const env = {
      TRIBUTARY_URL: server.url,
      TRIBUTARY_TOKEN: server.token,
      PATH: `${folder}${delimiter}${process.env.PATH ?? ''}`,
      LATER: '0'
    }
    t.match(await run([path, [files.good]], env), { code: 0, out: '', err: '' })
    const rejected = await run([path, [files.bad]], { ...env })
    t.match(rejected, { code: 1, err: /IDEMPOTENCY_MISMATCH/ }, 'a key of the day is of one body')
    t.match(await run([path, [files.bad]], { ...env, TRIBUTARY_TOKEN: 'trib_wrong' }), {
      code: 1,
      out: /somebody must look/
    })
  })
})
