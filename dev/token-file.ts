/** The first token and the file it is written to, so that whoever starts a catalog can also use it. */
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readTokenFile } from '../bin/client/server.ts'
import { bootstrapToken } from '../shared/catalog/access/bootstrap-token.ts'
import { listTokens } from '../shared/catalog/access/list-tokens.ts'
import type { Db } from '../shared/db/database.ts'
import { isTokenText, newTokenText } from '../shared/model/token-text.ts'
import type { Config } from '../shared/platform/config.ts'

export type FirstToken = {
  path: string
  /** What the file says; null if there is no file. It may be of another catalog. */
  text: string | null
  description: string
}

/**
 * Makes the administrator's token of a catalog that has none.
 *
 * The file is there before the token counts: a process killed between the two must not leave a catalog that nobody can
 * enter. Of several processes that start at once, the first one's file is the token of all.
 */
export async function ensureFirstToken(db: Db, config: Config): Promise<FirstToken> {
  const path = join(config.dataDir, 'token')
  const { total } = await listTokens(db, { count: 1 })
  if (total === 0) {
    const text = writeTokenFile(config, path)
    const { created } = await bootstrapToken(db, text)
    if (created) return { path, text, description: `${path} (administrator, made just now)` }
  }
  const text = readTokenFile(config.dataDir)
  return {
    path,
    text,
    description: text === null ? 'make one with: npx tributary token create --name me --scopes admin' : path
  }
}

/** The text that the file has now. */
function writeTokenFile(config: Config, path: string): string {
  mkdirSync(config.dataDir, { recursive: true })
  const known = readTokenFile(config.dataDir)
  const given = config.bootstrapToken
  if (given === null && known !== null && isTokenText(known)) return known

  const text = given ?? newTokenText()
  const part = `${path}.${process.pid}`
  writeDurably(part, `${text}\n`)
  try {
    // a link fails where the file exists, a rename replaces it
    if (given === null && known === null) linkSync(part, path)
    else renameSync(part, path)
    return text
  } catch (error) {
    const others = readTokenFile(config.dataDir)
    if (others === null) throw error
    return others
  } finally {
    rmSync(part, { force: true })
  }
}

function writeDurably(path: string, text: string): void {
  const descriptor = openSync(path, 'w', 0o600)
  writeSync(descriptor, text)
  fsyncSync(descriptor)
  closeSync(descriptor)
}
