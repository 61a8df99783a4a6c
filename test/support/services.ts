/**
 * The services that a test run needs: a Postgres (embedded, or the one of DATABASE_URL) and a migrated
 * template to clone.
 */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../dev/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../../shared/db/migrate.ts'
import { connectTestDatabase, dropDatabase, runOnServer, testDatabaseEnv, urlOfDatabase } from './database.ts'
import { makeDataFolder } from './data-folder.ts'

export type TestServices = {
  /** The environment variables that test files need. */
  env: Record<string, string>
  /** The services in use, for the person who runs the tests. */
  description: string
  stop(): Promise<void>
}

type Server = { url: string; description: string; isThrowaway: boolean; stop(): Promise<void> }

/** Throws CannotEmbed if the embedded Postgres cannot run and there is no DATABASE_URL. */
export async function startTestServices(): Promise<TestServices> {
  const given = process.env.DATABASE_URL
  const server = given ? givenServer(given) : await throwawayServer()
  try {
    const template = `tributary_template_${randomBytes(4).toString('hex')}`
    await runOnServer(server.url, `create database ${template} template template0`)
    await migrateTemplate(urlOfDatabase(server.url, template))
    return {
      env: {
        [testDatabaseEnv.url]: server.url,
        [testDatabaseEnv.template]: template,
        // copying files is twice as fast as logging pages, but ends in a checkpoint where the server is durable
        [testDatabaseEnv.strategy]: server.isThrowaway ? 'file_copy' : ''
      },
      description: server.description,
      async stop() {
        if (!server.isThrowaway) await dropDatabase(server.url, template)
        await server.stop()
      }
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

function givenServer(url: string): Server {
  return {
    url,
    description: 'the Postgres of DATABASE_URL',
    isThrowaway: false,
    stop: () => Promise.resolve()
  }
}

async function throwawayServer(): Promise<Server> {
  const folder = makeDataFolder()
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'pg'), throwaway: true })
  return {
    url: server.url(),
    description: 'a throw-away Postgres',
    isThrowaway: true,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
      rmSync(server.dataDir, { recursive: true, force: true })
    }
  }
}

async function migrateTemplate(url: string): Promise<void> {
  const db = connectTestDatabase(url)
  try {
    await migrate(db)
  } finally {
    await db.destroy()
  }
}
