/** The runbook: its commands run, and each entry by symptom says what is seen in words that the program prints. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { exitCodes } from '../../bin/failure.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { fencesOf, isForShell } from '../support/fences.ts'
import { withFolder } from '../support/program.ts'
import { withRedis } from '../support/redis.ts'
import { sendLoad } from '../torture/catalog-calls.ts'
import { withCatalog } from './support/catalog.ts'
import { chain, lines } from './support/loads.ts'
import { runShell } from './support/processes.ts'

const page = readFileSync(packagePath('docs/runbook.md'), 'utf8')
const [, bySymptom = ''] = page.split('\n## By symptom\n')
const entries = [...bySymptom.matchAll(/^### (.*)\n([^]*?)(?=\n### |$(?![^]))/gm)].map(
  ([, heading = '', text = '']) => ({ heading, text })
)

t.test('each entry says what is seen, what to check, the fix, and how to see that it worked', async (t) => {
  t.ok(entries.length >= 14, `${entries.length} entries`)
  for (const { heading, text } of entries) {
    const parts = [...text.matchAll(/^\*\*(Seen\.|Check\.|Fix\.|It worked)\*\*/gm)].map(([, part]) => part)
    t.same(parts, ['Seen.', 'Check.', 'Fix.', 'It worked'], heading)
  }
})

/** What Postgres, the kernel, OpenSSL or a platform prints, and words that a reader types or reads in JSON. */
const ofOthers = [
  'No space left on device',
  'must be vacuumed within',
  'certificate has expired',
  'sorry, too many clients already',
  'remaining connection slots are reserved',
  'status=78/CONFIG',
  'CrashLoopBackOff',
  '"queue":"down"',
  'trib_…',
  'WRONG  connections',
  'WRONG  clock'
]

t.test('what is seen is what the program prints', async (t) => {
  const sources = ['api', 'bin', 'shared', 'worker'].flatMap((folder) =>
    readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(packagePath(join(folder, name)), 'utf8'))
  )
  const all = sources.join('\n').replaceAll('`', '')
  let count = 0
  for (const { heading, text } of entries) {
    const [, seen = ''] = /\*\*Seen\.\*\* ([^]*?)\n\n/.exec(text) ?? []
    for (const [, said = ''] of seen.matchAll(/`([^`]+)`/g)) {
      if (ofOthers.includes(said) || said.startsWith('tributary ') || said.startsWith('/')) continue
      count += 1
      t.ok(all.includes(said), `${heading}: ${said}`)
    }
  }
  t.ok(count > 10, `${count} messages`)
})

t.test('the commands of the page run', async (t) => {
  const redisUrl = await withRedis(t)
  if (redisUrl === null) return
  const catalog = await withCatalog(t, { workers: 1, redisUrl, env: { METRICS_TOKEN: 'metrics-secret' } })
  const load = await sendLoad(catalog.client, lines(chain('runbook', 5)), { source: 'runbook' })
  const { json } = await catalog.client.graphql('{ listAccessTokens(input: {}) { tokens { id } } }')
  const [tokenId = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(JSON.stringify(json)) ?? []
  t.not(tokenId, '')
  const folder = withFolder(t)
  mkdirSync(join(folder, 'bin'))
  symlinkSync(packagePath('dist/bin/tributary.js'), join(folder, 'bin/tributary'))
  const fences = fencesOf('docs/runbook.md').filter(
    (fence) => isForShell(fence) && !fence.marks.has('not run')
  )
  t.ok(fences.length > 25, `${fences.length} blocks`)
  const commands = fences.flatMap(({ text, line }) =>
    text
      .trim()
      .split('\n')
      // a worker runs
      .filter((command) => command !== 'tributary work')
      .map((command) => ({
        command: command.replace(/\bID$/, load).replace('--name NAME', '--name another'),
        line
      }))
  )
  // its last use: afterwards the token of this test is refused
  const isLast = (command: string): boolean => command.startsWith('tributary token revoke')
  for (const { command, line } of [
    ...commands.filter((each) => !isLast(each.command)),
    ...commands.filter((each) => isLast(each.command))
  ]) {
    writeFileSync(join(folder, 'command.sh'), command)
    const shell = runShell(t, 'bash -euo pipefail command.sh', {
      cwd: folder,
      env: { ...catalog.env, PATH: `${folder}/bin:${process.env.PATH}`, LOAD_ID: load, TOKEN_ID: tokenId }
    })
    const code = await shell.ended
    const may = command.startsWith('tributary ') ? Object.values(exitCodes) : [0]
    t.ok(
      may.some((each) => each === code),
      `docs/runbook.md:${line}: ${command} ends with ${code}\n${shell.said()}`
    )
    t.notMatch(
      shell.said(),
      /ERROR: |Unknown command|unknown option|See tributary help|command not found/,
      command
    )
  }
})
