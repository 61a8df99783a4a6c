/**
 * A process that uses an embedded Postgres, for tests that kill it: `node postgres-holder.js DATA_DIR`.
 *
 * Prints a JSON line when it has the server, when the server ends, and when it was refused. SIGTERM releases
 * the server.
 */
import { startEmbeddedPostgres } from '../../dev/embedded-postgres/start-embedded-postgres.ts'

try {
  const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? '' })
  const keepAlive = setInterval(() => {}, 60_000)
  let isAsked = false
  void server.ended.then((code) => {
    console.log(JSON.stringify({ ended: code }))
    if (!isAsked) process.exit(3)
  })
  process.on('SIGTERM', () => {
    isAsked = true
    void server.stop().then(() => clearInterval(keepAlive))
  })
  console.log(JSON.stringify({ url: server.url(), dataDir: server.dataDir, adopted: server.adopted }))
} catch (error) {
  console.log(
    JSON.stringify({ refused: error instanceof Error ? `${error.name}: ${error.message}` : String(error) })
  )
  process.exitCode = 1
}
