/** Reads the operator's table of connections when a process starts. */
import { readFileSync } from 'node:fs'
import { parseConnections, type Connections } from '../../openlineage/connections.ts'
import { ConfigError } from '../../platform/config.ts'

/**
 * `setting` is a path, or the JSON itself; null is an empty table. Throws ConfigError naming the entry and
 * the key.
 */
export function readConnections(setting: string | null): Connections {
  if (setting === null) return []
  try {
    return parseConnections(setting.startsWith('[') ? setting : textOf(setting))
  } catch (error) {
    throw new ConfigError([
      `OPENLINEAGE_CONNECTIONS must be ${error instanceof Error ? error.message : String(error)}`
    ])
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new Error(`JSON, or the path of a readable file, but ${path} cannot be read`)
  }
}
