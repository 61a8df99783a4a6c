/**
 * A Postgres with a synchronous standby behind one address. When the primary dies, the standby is promoted, the address
 * leads to it, and a new standby is made of it.
 */
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { runOnServer } from '../support/database.ts'
import { openClusterHome, type Cluster } from '../support/postgres-cluster.ts'
import { freePort } from '../support/free-port.ts'
import { startForwarder } from './forwarder.ts'

export type FailingOverPostgres = {
  url: string
  /**
   * Ends the primary, as a crash of its postmaster or of the whole machine does, and resolves when the standby has
   * taken its place and a new standby is in step. Until then no write is acknowledged. Returns after how many
   * milliseconds the standby had taken the place.
   */
  failOver(signal?: 'SIGKILL' | 'SIGQUIT'): Promise<number>
  stop(): Promise<void>
}

const standbyName = 'standby'
/** So long the standby has heard nothing when the primary dies. */
const behindMs = 300
const inStepMaxMs = 60_000
const lookEveryMs = 20

const settings = {
  // A commit is answered once the standby has it on disk. A promoted standby first replays all that it has, so
  // remote_apply, which waits for the replay too, is only needed by those who read from a standby.
  synchronous_standby_names: standbyName,
  synchronous_commit: 'on',
  // No machine loses power here, and a copy of the primary waits for its checkpoint.
  fsync: 'off',
  // So much a new standby may lag behind its base backup.
  wal_keep_size: '1GB',
  max_wal_size: '1GB'
}

/** `programs` is the folder with the programs of Postgres. */
export async function startFailingOverPostgres(programs: string): Promise<FailingOverPostgres> {
  const home = openClusterHome(programs)
  const forwarder = await startForwarder()
  /** What the standby follows the primary through. */
  const replication = await startForwarder()
  let count = 0

  async function standbyOf(primary: Cluster): Promise<Cluster> {
    count += 1
    const folder = home.folder(`standby-${count}`)
    await home.run('pg_basebackup', [
      `--dbname=${primary.url()}`,
      `--pgdata=${folder}`,
      '--checkpoint=fast',
      '--wal-method=stream',
      '--no-sync'
    ])
    const standby = home.open(folder)
    replication.to(Number(new URL(primary.url()).port))
    standby.configure({
      primary_conninfo: `postgres://postgres@127.0.0.1:${replication.port}/postgres?application_name=${standbyName}`
    })
    standby.signal('standby.signal')
    await standby.start(await freePort())
    const isInStep = `select from pg_stat_replication where application_name = '${standbyName}' and state = 'streaming' and sync_state = 'sync'`
    for (const giveUpAt = Date.now() + inStepMaxMs; ; await sleep(lookEveryMs)) {
      if ((await runOnServer(primary.url(), isInStep)).length > 0) return standby
      if (Date.now() > giveUpAt) throw new Error('the standby does not get in step')
    }
  }

  let primary = await home.create('primary')
  primary.configure(settings)
  let port = await freePort()
  await primary.start(port)
  let standby = await standbyOf(primary)
  forwarder.to(port)
  return {
    url: `postgres://postgres@127.0.0.1:${forwarder.port}/postgres`,
    async failOver(signal = 'SIGKILL') {
      const dead = primary
      // What is written now and acknowledged would be lost.
      replication.cut()
      await sleep(behindMs)
      const begun = Date.now()
      await dead.end(signal)
      forwarder.cut()
      await runOnServer(standby.url(), 'select pg_promote()')
      primary = standby
      port = Number(new URL(primary.url()).port)
      forwarder.to(port)
      const promotedMs = Date.now() - begun
      rmSync(dead.folder, { recursive: true, force: true })
      standby = await standbyOf(primary)
      return promotedMs
    },
    async stop() {
      await forwarder.close()
      await replication.close()
      await home.remove()
    }
  }
}
