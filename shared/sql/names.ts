/** Folds names as a dialect does, and makes the name of a table whole with the defaults of the session. */
import type { Dialect } from './dialects.ts'
import type { Name, Path } from './form.ts'

export interface Defaults {
  database?: string
  schema?: string
}

/** How names are compared wherever the spelling may differ: ignoring case. */
export const keyOf = (name: string): string => name.toLowerCase()

/** A column's name as the dialect stores it. */
export function foldColumn({ text, quoted }: Name, dialect: Dialect): string {
  if (dialect.folding === 'none') return text.toLowerCase()
  if (quoted) return text
  return dialect.folding === 'upper' ? text.toUpperCase() : text.toLowerCase()
}

/** A column's name as a schema lists it, in the dialect's case. A name in mixed case was quoted when it was made. */
export function foldListed(name: string, dialect: Dialect): string {
  if (dialect.folding === 'none') return name.toLowerCase()
  if (dialect.folding === 'upper' && name === name.toLowerCase()) return name.toUpperCase()
  return name
}

/** A default for names without a database or a schema, in the dialect's case. */
export const foldDefault = (name: string, dialect: Dialect): string =>
  dialect.keepsTableCase === true ? name : foldListed(name, dialect)

function foldTable(name: Name, dialect: Dialect): string {
  return dialect.keepsTableCase === true ? name.text : foldColumn(name, dialect)
}

/** The parts of a table's name, with the defaults in front, from the database to the table. */
export function tableParts(path: Path, dialect: Dialect, given: Defaults): string[] {
  const [database, schema] = [given.database, given.schema].map((name) =>
    name !== undefined && dialect.folding === 'none' && dialect.keepsTableCase !== true
      ? name.toLowerCase()
      : name
  )
  const written = path.flatMap((name) =>
    dialect.name === 'bigquery' && name.quoted
      ? name.text.split('.').map((text) => ({ ...name, text }))
      : [name]
  )
  const parts = written.map((name) => foldTable(name, dialect))
  // `t$20261127` is a partition of t
  const last = parts.pop()
  if (last !== undefined) parts.push(dialect.name === 'bigquery' ? last.replace(/\$\w+$/, '') : last)
  if (dialect.levels === 2) {
    const container = schema ?? database
    return parts.length === 1 && container !== undefined ? [container, ...parts] : parts
  }
  if (parts.length === 1 && schema !== undefined) parts.unshift(schema)
  if (parts.length === 2 && database !== undefined) parts.unshift(database)
  // `db..t` names a table of the default schema
  return parts.map((part) => (part === '' ? (schema ?? (dialect.name === 'tsql' ? 'dbo' : '')) : part))
}

export const tableId = (parts: readonly string[]): string => parts.join('.')
