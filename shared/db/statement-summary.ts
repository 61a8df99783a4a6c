/** Summarizes an SQL statement in a few words, with few different results: `update chunk`. */

export type StatementSummary = {
  /** The command: `select`, `insert`, `update`, `delete`, `copy`, `begin` and so on. */
  operation: string
  /** The command and the table it reads or writes first. */
  summary: string
}

/** Statements are constant texts, or few variants of one, so most are found here. */
const known = new Map<string, StatementSummary>()
const knownMaxCount = 1_000
const knownMaxChars = 10_000

export function summaryOf(sql: string): StatementSummary {
  const found = known.get(sql)
  if (found !== undefined) return found
  const made = summarize(sql)
  if (known.size < knownMaxCount && sql.length <= knownMaxChars) known.set(sql, made)
  return made
}

/** In `with … update chunk` the command is `update`: what is in parentheses does not count. */
function summarize(sql: string): StatementSummary {
  const text = withoutParentheses(sql.slice(0, knownMaxChars)).toLowerCase()
  const [, written] =
    /\b(?:insert into|update|delete from|copy)\s+(?!(?:to|from)\b)([a-z_]\w*)/.exec(text) ?? []
  const [operation = 'unknown'] =
    /\b(?:select|insert|update|delete|copy)\b/.exec(text) ?? /[a-z]+/.exec(text) ?? []
  const [, read] = operation === 'select' ? (/\bfrom\s+([a-z_]\w*)/.exec(text) ?? []) : []
  const table = operation === 'select' ? read : written
  return { operation, summary: table === undefined ? operation : `${operation} ${table}` }
}

function withoutParentheses(sql: string): string {
  let depth = 0
  let text = ''
  for (const char of sql) {
    if (char === '(') depth += 1
    else if (char === ')') depth -= 1
    else if (depth === 0) text += char
  }
  return text
}
