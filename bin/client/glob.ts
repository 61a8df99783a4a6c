/**
 * Expands patterns such as `exports/2026-*.ndjson`, for quoted patterns and shells that do not expand them.
 */
import { readdirSync, type Dirent } from 'node:fs'
import { join } from 'node:path'

/** Whether a text has a character that is special in patterns. */
export function isPattern(text: string): boolean {
  return /[*?[{]/.test(text)
}

/**
 * The matching paths, ordered by name: `*` and `?` within a name, `[a-z]` and `[!a-z]`, `{a,b}`, and `**` for
 * any number of folders. Names that begin with a dot only match if the pattern has the dot. Folders that
 * cannot be read count as empty. Links to folders are followed if they are named, but not by `**`, which
 * could cycle forever.
 */
export function expandPattern(pattern: string): string[] {
  const found = new Set<string>()
  for (const plain of withoutBraces(pattern)) {
    const parts = plain.split('/').filter((part) => part !== '' && part !== '.')
    for (const path of below(plain.startsWith('/') ? '/' : '', parts)) found.add(path)
  }
  return [...found].sort()
}

/** Expands the braces in all ways. Braces that are not closed, or have no comma, are plain characters. */
function withoutBraces(pattern: string): string[] {
  const [whole = '', before = '', inside = '', after = ''] =
    /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(pattern) ?? []
  if (whole === '') return [pattern]
  return inside.split(',').flatMap((choice) => withoutBraces(`${before}${choice}${after}`))
}

function* below(folder: string, [part, ...rest]: readonly string[]): Generator<string> {
  if (part === undefined) {
    if (folder !== '') yield folder
    return
  }
  if (part === '**') {
    yield* below(folder, rest)
    for (const entry of entriesOf(folder)) {
      if (entry.isDirectory() && !entry.name.startsWith('.'))
        yield* below(join(folder, entry.name), [part, ...rest])
    }
    return
  }
  if (part === '..') {
    yield* below(join(folder, part), rest)
    return
  }
  const fits = matcherOf(part)
  for (const { name } of entriesOf(folder)) if (fits(name)) yield* below(join(folder, name), rest)
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder === '' ? '.' : folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function matcherOf(part: string): (name: string) => boolean {
  const source = part.replaceAll(
    /\[(!?)([^\]]+)\]|[*?]|[^\w]/g,
    (piece: string, not?: string, set?: string) => {
      if (set !== undefined) return `[${not === '!' ? '^' : ''}${set.replaceAll(/[\\\]^]/g, '\\$&')}]`
      return piece === '*' ? '.*' : piece === '?' ? '.' : `\\u{${(piece.codePointAt(0) ?? 0).toString(16)}}`
    }
  )
  const expression = new RegExp(`^${source}$`, 'su')
  return (name) => expression.test(name) && (part.startsWith('.') || !name.startsWith('.'))
}
