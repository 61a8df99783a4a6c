/** A durable Postgres of a torture's own, which can be ended at once and started again on the same data. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../dev/embedded-postgres/start-embedded-postgres.ts'
import { readServerState } from '../../dev/embedded-postgres/server-state.ts'

export type KillablePostgres = {
  url: string
  /** Ends the postmaster at once, by SIGKILL or as an immediate shutdown does, and starts another on the same data. */
  crash: (signal?: 'SIGKILL' | 'SIGQUIT') => Promise<void>
  stop: () => Promise<void>
}

/** What has been acknowledged survives a crash of it; nobody else may use it. */
export async function startKillablePostgres(): Promise<KillablePostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-torture-'))
  chmodSync(folder, 0o755)
  const start = () => startEmbeddedPostgres({ dataDir: join(folder, 'pg'), log: () => {} })
  let server = await start()
  return {
    url: server.url(),
    async crash(signal = 'SIGKILL') {
      const state = readServerState(server.dataDir)
      if (!('pid' in state)) throw new Error('there is no server to kill')
      process.kill(state.pid, signal)
      await server.ended
      await server.stop()
      server = await start()
    },
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
      rmSync(server.dataDir, { recursive: true, force: true })
    }
  }
}
