/**
 * The image without Docker: the steps of the Dockerfile give a program that migrates, answers and stops as the user of the image, where it
 * can write nothing. In place of the base image are the files of this machine and the Node.js of this run.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { quoteForShell } from '../../bin/quote-for-shell.ts'
import { withEmptyDatabase } from '../support/database.ts'
import { withFolder } from '../support/program.ts'
import { freePort } from '../support/free-port.ts'
import { skipUnless } from '../support/skip.ts'
import { readDockerfile, scriptOf, valueOf, wordsOf } from './support/dockerfile.ts'
import { processTree } from './support/process-tree.ts'
import { runShell } from './support/processes.ts'
import { registryEnv } from './support/registry-env.ts'

const readyMaxMs = 60_000

// two installations and a build
t.setTimeout(1_800_000)

/** Why the steps cannot be carried out here, or null. */
function obstacle(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root on Linux can make file systems'
  const { status } = spawnSync('unshare', [
    '--mount',
    '--pid',
    '--fork',
    'mount',
    '-t',
    'tmpfs',
    'tmpfs',
    '/mnt'
  ])
  return status === 0 ? null : 'this root may not mount'
}

/** The database on TCP, for the embedded one has a socket that only its user may open. */
async function withDatabaseOnTcp(t: Test): Promise<string> {
  const url = new URL((await withEmptyDatabase(t)).url)
  const folder = url.searchParams.get('host')
  if (folder === null) return url.href
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(join(folder, `.s.PGSQL.${url.port || '5432'}`))
    for (const [end, other] of [
      [client, database],
      [database, client]
    ] as const) {
      sockets.add(end)
      end.on('error', () => {}).on('close', () => other.destroy())
      end.pipe(other)
    }
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `postgres://${url.username}@127.0.0.1:${port}${url.pathname}`
}

t.test(
  'the steps of the Dockerfile give a program that answers as a normal user on a read-only root',
  async (t) => {
    const reason = obstacle()
    if (skipUnless(t, reason === null, reason ?? '')) return
    const stages = readDockerfile()
    const image = stages.at(-1)
    if (image === undefined) throw new Error('the Dockerfile has no stage')
    const user = Number(valueOf(image, 'USER'))
    t.ok(user > 0, 'the image has a user of its own, by number')

    const work = mkdtempSync(join(tmpdir(), 'image-'))
    t.teardown(() => rmSync(work, { recursive: true, force: true }))
    const databaseUrl = await withDatabaseOnTcp(t)
    const port = await freePort()
    const environment = [
      'env -i',
      `PATH=${process.env.PATH}:/usr/local/bin`,
      `NODE_ENV=production PORT=${port} HOST=127.0.0.1`,
      `DATABASE_URL=${quoteForShell(databaseUrl)}`
    ].join(' ')
    // what Docker does for USER, cap_drop: ALL and no-new-privileges
    const asUser = `chroot ${work}/image setpriv --reuid=${user} --regid=${user} --clear-groups --bounding-set=-all --no-new-privs`
    const start = (words: readonly string[]): string =>
      `${asUser} ${environment} ${[...wordsOf(image, 'ENTRYPOINT'), ...words].map(quoteForShell).join(' ')}`
    const script = [
      scriptOf(stages, work),
      start(['migrate']),
      // it becomes process 1, as in a container
      `exec ${start(wordsOf(image, 'CMD'))}`
    ].join('\n')
    const scriptFile = join(withFolder(t), 'image.sh')
    writeFileSync(scriptFile, script)
    const run = runShell(
      t,
      `unshare --mount --propagation=private --pid --fork --kill-child /bin/sh ${scriptFile}`,
      { env: registryEnv, cwd: '/' }
    )
    const url = `http://127.0.0.1:${port}`
    await run.says(/the API listens/, 1_500_000)

    for (let waitedMs = 0; waitedMs < readyMaxMs && !(await isReady(url)); waitedMs += 100) await sleep(100)
    const health = await fetch(`${url}/health/ready`)
    t.equal(health.status, 200, await health.text())
    const page = await fetch(`${url}/ui/`)
    t.match(await page.text(), /<title>Tributary/, 'the web UI is there')

    const pid = processTree(run.pid)[1] ?? 0
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    t.match(status, new RegExp(`^Uid:\t${[user, user, user, user].join('\t')}$`, 'm'))
    t.match(status, /^NSpid:\t\d+\t1$/m, 'process 1')
    t.match(status, /^CapEff:\t0+$/m)
    t.match(status, /^CapBnd:\t0+$/m)
    t.match(status, /^NoNewPrivs:\t1$/m)
    const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
    t.match(mounts, /^\d+ \d+ \S+ \/ \/ ro,/m, 'the root is read-only')

    await t.test('and passes the health check of the image, which fails where nothing answers', async (t) => {
      const inside = ['--target', String(pid), '--mount', '--pid', '--root', '--wd=/']
      const check = (portAsked: number): number | null =>
        spawnSync('nsenter', [...inside, ...wordsOf(image, 'HEALTHCHECK')], {
          env: { PATH: process.env.PATH, PORT: String(portAsked) }
        }).status
      t.equal(check(port), 0)
      t.equal(check(await freePort()), 1)
    })

    await t.test('and stops with 0 when it is asked to', async (t) => {
      process.kill(pid, 'SIGTERM')
      t.equal(await run.ended, 0, run.said().slice(-2_000))
    })
  }
)

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ status }) => status === 200,
    () => false
  )
}
