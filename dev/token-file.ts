/** The first token and its file, which lets the person who starts a catalog use it. */
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readTokenFile } from '../bin/client/find-server.ts'
import { bootstrapToken } from '../shared/catalog/access/bootstrap-token.ts'
import { listTokens } from '../shared/catalog/access/list-tokens.ts'
import type { Db } from '../shared/db/database.ts'
import { isTokenText, newTokenText } from '../shared/model/token-text.ts'
import type { Config } from '../shared/platform/config.ts'

export type FirstToken = {
  path: string
  /** The content of the file; null if there is none. It may belong to another catalog. */
  text: string | null
  description: string
}

/**
 * Creates the administrator's token of a catalog without tokens.
 *
 * The file is written before the token counts: a process killed in between must not leave a catalog that
 * nobody can enter. If several processes start at once, the first file decides the token. `command` is how a
 * person calls the command line.
 */
export async function ensureFirstToken(db: Db, config: Config, command: string): Promise<FirstToken> {
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
    description: text === null ? `make one with: ${command} token create --name me --scopes admin` : path
  }
}

/** Writes the file, unless it has a usable token already, and returns its content. */
function writeTokenFile(config: Config, path: string): string {
  mkdirSync(config.dataDir, { recursive: true })
  const known = readTokenFile(config.dataDir)
  const given = config.bootstrapToken
  if (given === null && known !== null && isTokenText(known)) return known

  const text = given ?? newTokenText()
  const part = `${path}.${process.pid}`
  writeDurably(part, `${text}\n`)
  try {
    // a link fails if the file exists; a rename would replace it
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
