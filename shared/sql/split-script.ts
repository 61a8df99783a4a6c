/**
 * Splits a script into its statements: by semicolons, by keywords where the dialect needs none, and out of the bodies of procedures.
 *
 * Control flow is taken off: `IF x THEN INSERT …` gives the INSERT. What a variable holds is not known.
 */
import type { Dialect } from './dialects.ts'
import { Edits } from './edits.ts'
import type { Token } from './tokens.ts'
import { tokenize } from './tokens.ts'

/** One statement of a script. */
export interface Piece {
  /** The statement, as long as its part of the script: what is left out is blank, so that places stay the same. */
  sql: string
  /** Where it begins in the script. */
  start: number
  /** Names that are variables here, ignoring case. */
  variables: ReadonlySet<string>
  /** The variable whose fields are the columns of this query: `FOR r IN SELECT …`. */
  row?: string
  /** It runs a text that is made at run time. */
  isDynamic?: boolean
  /** It is written in another language. */
  isForeign?: boolean
}

/** Words that begin a statement which may be read. */
const beginnings = new Set([
  'SELECT', 'SEL', 'WITH', 'INSERT', 'INS', 'UPDATE', 'UPD', 'DELETE', 'DEL', 'MERGE', 'REPLACE', 'CREATE', 'DROP', 'ALTER', 'TRUNCATE',
  'COPY', 'UNLOAD', 'USE', 'FROM', 'EXPORT', 'UPSERT', 'VALUES', 'RENAME', 'PIVOT', 'UNPIVOT', 'LOCKING', 'TABLE', 'CACHE', 'BULK'
]) // prettier-ignore

/** Words that begin what is not about tables, in procedures and scripts. */
const ignored = new Set([
  'SET', 'PRINT', 'RAISE', 'RAISERROR', 'THROW', 'COMMIT', 'ROLLBACK', 'SAVE', 'SAVEPOINT', 'GOTO', 'LEAVE', 'ITERATE', 'CONTINUE', 'BREAK', 'EXIT',
  'CLOSE', 'FETCH', 'DEALLOCATE', 'PERFORM', 'CALL', 'LET', 'NULL', 'WAITFOR', 'GRANT', 'REVOKE', 'ANALYZE', 'VACUUM', 'DBMS_OUTPUT', 'PRAGMA', 'SIGNAL',
  'RESIGNAL', 'GET', 'LOCK', 'UNLOCK', 'START', 'SHOW', 'DESCRIBE', 'DESC', 'EXPLAIN', 'COMMENT', 'REFRESH', 'MSCK', 'OPTIMIZE', 'COLLECT', 'ASSERT', 'LIST',
  'REMOVE', 'PUT', 'RESET', 'BT', 'ET', 'TRANSACTION', 'TRAN', 'DO', 'UNSET', 'ADD', 'CHECKPOINT', 'KILL', 'REINDEX', 'CLUSTER', 'ATTACH', 'INSTALL', 'LOAD'
]) // prettier-ignore

/** Words after which a word that begins statements continues one, in T-SQL. */
const continues = new Set([
  'AS',
  'UNION',
  'ALL',
  'EXCEPT',
  'INTERSECT',
  'THEN',
  '(',
  ',',
  'FOR',
  'ON',
  'BEFORE',
  'AFTER',
  'INSTEAD',
  'OF',
  'OR',
  '=',
  'EXPLAIN',
  'BULK'
])

const isRoutine = new Set(['PROCEDURE', 'PROC', 'FUNCTION', 'TRIGGER', 'TASK', 'PACKAGE', 'EVENT'])

/** Ranges of tokens between semicolons, and other ends of statements. */
function cut(sql: string, tokens: readonly Token[], dialect: Dialect): Token[][] {
  const ranges: Token[][] = [[]]
  const end = (): void => {
    if (ranges.at(-1)?.length) ranges.push([])
  }
  for (const token of tokens) {
    if (token.key === ';') end()
    else if ((token.key === 'GO' || (token.key === '/' && dialect.name === 'oracle')) && isAlone(sql, token))
      end()
    else ranges.at(-1)?.push(token)
  }
  return ranges.filter((range) => range.length > 0)
}

/** Whether a token is the only one of its line. */
function isAlone(sql: string, { start, end }: Token): boolean {
  const before = sql.slice(sql.lastIndexOf('\n', start - 1) + 1, start)
  const next = sql.indexOf('\n', end)
  return before.trim() === '' && sql.slice(end, next === -1 ? sql.length : next).trim() === ''
}

/** Where a statement without a semicolon ends, in T-SQL: before the next word that cannot continue it. */
function cutByWords(tokens: readonly Token[]): Token[][] {
  const ranges: Token[][] = [[]]
  let depth = 0
  let cases = 0
  let hasMain = true
  /** Where the INSERT of the range is, which may follow a WITH. */
  let insert: number | undefined
  for (const [index, token] of tokens.entries()) {
    const { key } = token
    const current = ranges.at(-1) ?? []
    const before = tokens[index - 1]?.key ?? ''
    const first = current[0]?.key
    if (key === '(') depth++
    if (key === ')') depth--
    if (key === 'CASE') cases++
    const endsCase = key === 'END' && cases > 0
    if (endsCase) cases--
    let starts = false
    const isKeyword = token.kind === 'word' && before !== '.' && tokens[index + 1]?.key !== '.'
    if (depth === 0 && cases === 0 && !endsCase && current.length > 0 && isKeyword) {
      if (['SELECT', 'UPDATE', 'DELETE', 'INSERT', 'MERGE'].includes(key)) {
        starts = !continues.has(before) && hasMain
        const isOfInsert =
          key === 'SELECT' &&
          insert !== undefined &&
          !tokens.slice(insert, index).some((each) => each.key === 'SELECT' || each.key === 'VALUES')
        if (isOfInsert) starts = false
        if (key === 'MERGE' && ['INNER', 'LEFT', 'RIGHT', 'FULL'].includes(before)) starts = false
        if (before === 'CREATE' || before === 'GRANT' || before === 'IF') starts = false
        if (first === 'CREATE' && before === 'AS') starts = false
        if (first === 'MERGE' && before === 'THEN') starts = false
      } else if (key === 'WITH')
        starts =
          (tokens[index + 1]?.key !== '(' &&
            tokens[index + 2]?.key === 'AS' &&
            before !== 'AS' &&
            !/^(?:SCHEMABINDING|VIEW_METADATA|ENCRYPTION)$/.test(tokens[index + 1]?.key ?? '')) ||
          (tokens[index + 2]?.key === '(' &&
            tokens[index + 1]?.kind !== 'symbol' &&
            before !== 'AS' &&
            before !== 'INTO')
      else if (
        [
          'DECLARE',
          'IF',
          'WHILE',
          'BEGIN',
          'END',
          'ELSE',
          'EXEC',
          'EXECUTE',
          'PRINT',
          'RETURN',
          'TRUNCATE',
          'DROP',
          'RAISERROR',
          'THROW',
          'OPEN',
          'FETCH',
          'CLOSE',
          'DEALLOCATE',
          'USE',
          'COMMIT',
          'ROLLBACK'
        ].includes(key)
      )
        starts =
          !(key === 'IF' && ['TABLE', 'VIEW', 'PROCEDURE', 'DROP', 'INDEX'].includes(before)) &&
          !(key === 'FETCH' && /ROWS?/.test(before)) &&
          !((key === 'EXEC' || key === 'EXECUTE') && (first === 'INSERT' || before === 'WITH')) &&
          !(key === 'WITH') &&
          first !== 'GRANT'
      else if (key === 'SET')
        starts =
          (tokens[index + 1]?.kind === 'variable' && !['UPDATE', 'MERGE'].includes(first ?? '')) ||
          /^(?:NOCOUNT|XACT_ABORT|ANSI_NULLS|QUOTED_IDENTIFIER|IDENTITY_INSERT|TRANSACTION)$/.test(
            tokens[index + 1]?.key ?? ''
          )
      else if (key === 'CREATE' || key === 'ALTER')
        starts = before !== 'OR' && first !== 'ALTER' && first !== 'CREATE'
    }
    if (starts) {
      ranges.push([])
      hasMain = true
      insert = undefined
    }
    if (key === 'INSERT' && depth === 0) insert = index
    const range = ranges.at(-1) ?? []
    // the statement of a WITH is still to come
    if (range.length === 0) hasMain = key !== 'WITH'
    else if (depth === 0 && ['SELECT', 'UPDATE', 'DELETE', 'INSERT', 'MERGE'].includes(key)) hasMain = true
    range.push(token)
  }
  return ranges.filter((range) => range.length > 0)
}

/** The index of the first token at no depth for which the test holds, from an index. */
function find(
  tokens: readonly Token[],
  from: number,
  test: (token: Token, index: number) => boolean
): number {
  let depth = 0
  let cases = 0
  for (let index = from; index < tokens.length; index++) {
    const token = tokens[index]
    if (token === undefined) break
    if (token.key === ')') depth--
    if (depth === 0 && cases === 0 && test(token, index)) return index
    if (token.key === '(') depth++
    if (token.key === 'CASE') cases++
    if (token.key === 'END' && cases > 0) cases--
  }
  return -1
}

const is =
  (...keys: string[]) =>
  (token: Token): boolean =>
    token.kind === 'word' && keys.includes(token.key)

/** Names of the parameters of a routine: the first word of each, without its direction. */
function parameterNames(tokens: readonly Token[], from: number): string[] {
  const open = tokens.findIndex(({ key }, index) => index >= from && key === '(')
  const body = tokens.findIndex(({ key }, index) => index >= from && /^(?:AS|IS|BEGIN)$/.test(key))
  if (open === -1 || (body !== -1 && body < open)) return []
  const names: string[] = []
  let depth = 0
  let isNew = true
  for (const token of tokens.slice(open)) {
    if (token.key === '(') depth++
    else if (token.key === ')') {
      depth--
      if (depth === 0) break
    } else if (depth === 1 && token.key === ',') isNew = true
    else if (
      depth === 1 &&
      isNew &&
      token.kind === 'word' &&
      !['IN', 'OUT', 'INOUT', 'VARIADIC'].includes(token.key)
    ) {
      names.push(token.text.toLowerCase())
      isNew = false
    }
  }
  return names
}

interface Reading {
  script: string
  dialect: Dialect
  pieces: Piece[]
  variables: Set<string>
  /** Inside of a routine or a block, where a statement may begin with a variable. */
  isInBody: boolean
  /** The table of the trigger around, whose rows T-SQL calls inserted and deleted. */
  table?: string
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

function add(reading: Reading, tokens: readonly Token[], more: Partial<Piece> = {}): void {
  const first = tokens[0]
  const last = tokens.at(-1)
  if (first === undefined || last === undefined) return
  let sql = reading.script.slice(first.start, last.end)
  // in a routine SELECT … INTO v gives variables their values
  if (reading.isInBody && !reading.dialect.endsByKeyword && ['SELECT', 'WITH'].includes(first.key)) {
    const into = find(tokens, 0, is('INTO'))
    const end = find(tokens, into + 1, is('FROM', 'WHERE', 'UNION', 'LIMIT', 'USING'))
    const isBulk = tokens[into - 1]?.key === 'COLLECT' && tokens[into - 2]?.key === 'BULK'
    const [from, to] = [tokens[isBulk ? into - 2 : into], end === -1 ? last : tokens[end - 1]]
    if (into > 0 && from !== undefined && to !== undefined)
      sql =
        sql.slice(0, from.start - first.start) +
        blank(sql.slice(from.start - first.start, to.end - first.start)) +
        sql.slice(to.end - first.start)
  }
  if (reading.table !== undefined) sql = ofTrigger(sql, reading.table, reading.dialect)
  reading.pieces.push({ sql, start: first.start, variables: reading.variables, ...more })
}

/** The statement of a trigger, which reads its own table where it says inserted or deleted. */
function ofTrigger(sql: string, table: string, dialect: Dialect): string {
  const edits = new Edits(sql, dialect)
  edits.tokens.forEach(({ key, text }, index) => {
    if (!/^(?:INSERTED|DELETED)$/.test(key) || !/^(?:FROM|JOIN|,)$/.test(edits.key(index - 1))) return
    const next = edits.tokens[index + 1]
    const hasAlias =
      next?.kind === 'word' &&
      !/^(?:WHERE|JOIN|INNER|LEFT|RIGHT|FULL|CROSS|OUTER|ON|GROUP|ORDER|UNION|HAVING|EXCEPT|FOR)$/.test(
        next.key
      )
    edits.replace(index, index, hasAlias ? table : `${table} ${text}`)
  })
  return edits.apply()
}

/** The SQL in a text: `$$ … $$` or `'…'`. Doubled quotes keep their place. */
function readText(reading: Reading, token: Token): void {
  const open = /^(?:\$[A-Za-z_0-9]*\$|'''|"""|'|")/.exec(token.text)?.[0] ?? ''
  const body = token.text.slice(open.length, token.text.length - open.length)
  // two quotes stand for one, four for two
  const halve = (quotes: string): string => ' '.repeat(quotes.length / 2) + "'".repeat(quotes.length / 2)
  const inner = open === "'" ? body.replace(/(?:'')+/g, halve) : body
  const start = token.start + open.length
  const script = blank(reading.script.slice(0, start)) + inner
  const nested: Reading = { ...reading, script, isInBody: true }
  readRange(
    nested,
    tokenize(inner, reading.dialect).map((each) => ({
      ...each,
      start: each.start + start,
      end: each.end + start
    }))
  )
}

/** A routine: its header is left out, its body is read. */
function readRoutine(reading: Reading, tokens: readonly Token[]): void {
  for (const name of parameterNames(tokens, 2)) reading.variables.add(name)
  if (reading.dialect.name === 'tsql' && tokens.slice(0, 5).some(is('TRIGGER'))) {
    const on = find(tokens, 2, is('ON'))
    let last = on + 1
    while (tokens[last + 1]?.key === '.') last += 2
    const [from, to] = [tokens[on + 1], tokens[last]]
    if (from !== undefined && to !== undefined) reading.table = reading.script.slice(from.start, to.end)
  }
  reading.isInBody = true
  const isOther = tokens.some(
    ({ key }, index) =>
      key === 'LANGUAGE' && !/^(?:SQL|PLPGSQL|'SQL'|'PLPGSQL'|PLSQL)$/i.test(tokens[index + 1]?.text ?? 'SQL')
  )
  if (isOther) return add(reading, tokens, { isForeign: true })
  const body = find(
    tokens,
    2,
    (token, index) =>
      token.kind === 'string' && ['AS', 'DO', 'PLPGSQL', 'SQL'].includes(tokens[index - 1]?.key ?? '')
  )
  const text = tokens[body]
  if (text !== undefined && body !== -1) return readText(reading, text)
  const as = find(
    tokens,
    2,
    (token, index) =>
      is('AS', 'IS')(token) &&
      !['EXECUTE', 'EXEC'].includes(tokens[index - 1]?.key ?? '') &&
      !['OWNER', 'CALLER', 'SELF'].includes(tokens[index + 1]?.key ?? '')
  )
  const begin = find(tokens, 2, is('BEGIN'))
  const from =
    begin !== -1 && (as === -1 || begin < as)
      ? begin
      : as !== -1
        ? as + 1
        : find(tokens, 3, (token) => token.kind === 'word' && beginnings.has(token.key))
  if (from !== -1) readStatement(reading, tokens.slice(from))
}

/** `IF … THEN`, `WHILE … LOOP`: what comes after the condition. */
function afterCondition(reading: Reading, tokens: readonly Token[]): readonly Token[] {
  const then = find(tokens, 1, is('THEN', 'LOOP', 'DO', 'BEGIN'))
  if (then !== -1) return tokens.slice(tokens[then]?.key === 'BEGIN' ? then : then + 1)
  if (!reading.dialect.endsByKeyword) return []
  const statement = find(
    tokens,
    1,
    (token) => token.kind === 'word' && (beginnings.has(token.key) || ignored.has(token.key))
  )
  return statement === -1 ? [] : tokens.slice(statement)
}

/** `FOR r IN SELECT … LOOP`, `FOR r IN (SELECT …) DO`. */
function readLoop(reading: Reading, tokens: readonly Token[]): void {
  const inside = find(tokens, 1, is('IN'))
  const end = find(tokens, inside + 1, is('LOOP', 'DO'))
  if (inside === -1 || end === -1) return
  const row = tokens[inside - 1]?.text.toLowerCase() ?? ''
  let query = tokens.slice(inside + 1, end)
  if (query[0]?.key === '(' && query.at(-1)?.key === ')') query = query.slice(1, -1)
  if (['SELECT', 'WITH'].includes(query[0]?.key ?? '')) add(reading, query, { row })
  else reading.variables.add(row)
  readStatement(reading, tokens.slice(end + 1))
}

/** `CURSOR c IS SELECT …`, `DECLARE c CURSOR FOR SELECT …`, `OPEN c FOR SELECT …`. */
function readCursor(reading: Reading, tokens: readonly Token[]): void {
  const from = find(
    tokens,
    1,
    (token, index) =>
      is('IS', 'FOR', 'AS')(token) && ['SELECT', 'WITH', '('].includes(tokens[index + 1]?.key ?? '')
  )
  if (from !== -1) add(reading, tokens.slice(from + 1))
}

/** `EXECUTE IMMEDIATE '…'`, `EXEC('…')`: read where the text is written out. */
function readDynamic(reading: Reading, tokens: readonly Token[]): void {
  const isProcedure =
    tokens[1]?.kind !== 'string' &&
    !['IMMEDIATE', '(', 'SP_EXECUTESQL', 'FORMAT'].includes(tokens[1]?.key ?? '') &&
    tokens[1]?.kind !== 'variable'
  if (isProcedure && !['postgres', 'redshift'].includes(reading.dialect.name)) return
  const [text, ...others] = tokens.filter(({ kind }) => kind === 'string')
  const isWhole = !tokens.some(
    ({ key }) => key === '|' || key === '+' || key === 'FORMAT' || key === 'CONCAT'
  )
  if (text !== undefined && others.length === 0 && isWhole) readText(reading, text)
  else add(reading, tokens, { isDynamic: true })
}

/** Takes control flow off the front, and adds the statement that is left. */
function readStatement(reading: Reading, given: readonly Token[]): void {
  let tokens = given
  for (;;) {
    const [first, second] = tokens
    if (first === undefined) return
    const { key } = first
    if (first.kind === 'word') {
      const what = tokens.slice(1, 5).findIndex((each) => isRoutine.has(each.key))
      if (
        ['CREATE', 'ALTER'].includes(key) &&
        what !== -1 &&
        !tokens.slice(1, what + 1).some((each) => ['TABLE', 'VIEW'].includes(each.key))
      )
        return readRoutine(reading, tokens)
      if (key === 'REPLACE' && isRoutine.has(second?.key ?? '')) return readRoutine(reading, tokens)
      // a part of a package
      if (reading.isInBody && isRoutine.has(key)) return readRoutine(reading, tokens)
      // the cursor of a declaration
      if (reading.isInBody && second?.key === 'CURSOR') return readCursor(reading, tokens)
      if (key === 'DECLARE' && tokens[2]?.key === 'CURSOR') return readCursor(reading, tokens)
      if (key === 'LOAD' && second?.key === 'DATA') return add(reading, tokens)
      if (key === 'SET' && second?.key === 'SEARCH_PATH') return add(reading, tokens)
      if (key === 'DO' && second?.kind === 'string') return readText(reading, second)
      if (key === 'FOR' || key === 'FOREACH') return readLoop(reading, tokens)
      if (key === 'FORALL') {
        const statement = find(tokens, 1, is('INSERT', 'UPDATE', 'DELETE', 'MERGE', 'EXECUTE'))
        return statement === -1 ? undefined : readStatement(reading, tokens.slice(statement))
      }
      if (
        key === 'CURSOR' ||
        key === 'OPEN' ||
        (key === 'DECLARE' && tokens.slice(1, 6).some((each) => each.key === 'CURSOR'))
      )
        return readCursor(reading, tokens)
      if (['EXECUTE', 'EXEC'].includes(key)) return readDynamic(reading, tokens)
      if (['IF', 'ELSIF', 'ELSEIF', 'WHILE', 'WHEN', 'CASE', 'UNTIL'].includes(key)) {
        reading.isInBody = true
        tokens = afterCondition(reading, tokens)
        continue
      }
      if (key === 'RETURN') {
        const query = find(tokens, 1, (token) => is('SELECT', 'WITH')(token))
        if (query !== -1 && query <= 2) return add(reading, tokens.slice(query))
        const inner = tokens.findIndex(is('SELECT', 'WITH'))
        if (tokens[1]?.key === '(' && inner === 2)
          return add(reading, tokens.slice(2, tokens.at(-1)?.key === ')' ? -1 : undefined))
        return
      }
      if (
        key === 'BEGIN' ||
        key === 'DECLARE' ||
        key === 'ELSE' ||
        key === 'THEN' ||
        key === 'LOOP' ||
        key === 'EXCEPTION' ||
        key === 'REPEAT' ||
        key === 'TRY' ||
        key === 'CATCH' ||
        key === 'ATOMIC'
      ) {
        if (key === 'DECLARE' && tokens.length > 1) {
          for (const name of declaredNames(tokens)) reading.variables.add(name)
          reading.isInBody = true
          return
        }
        if (key !== 'BEGIN' || tokens.length > 1) reading.isInBody = true
        tokens = tokens.slice(1)
        continue
      }
      if (key === 'END') {
        const after = reading.dialect.endsByKeyword ? tokens.slice(1) : []
        tokens = ['TRY', 'CATCH'].includes(after[0]?.key ?? '') ? after.slice(1) : after
        continue
      }
      if (ignored.has(key) || (key === 'UPDATE' && second?.key === 'STATISTICS')) return
      if (beginnings.has(key)) return add(reading, tokens)
      if (second?.key === ':' && tokens[2]?.key !== '=') {
        tokens = tokens.slice(2)
        continue
      }
    }
    if (key === '<' && second?.key === '<') {
      const close = tokens.findIndex((each, index) => each.key === '>' && tokens[index + 1]?.key === '>')
      tokens = tokens.slice(close + 2)
      continue
    }
    if (key === '(') return add(reading, tokens)
    if (reading.isInBody) {
      // a declaration or an assignment
      if (first.kind === 'word') reading.variables.add(first.text.toLowerCase())
      return
    }
    return add(reading, tokens)
  }
}

/** The variables of a DECLARE: the words before the types. */
function declaredNames(tokens: readonly Token[]): string[] {
  const names: string[] = []
  let depth = 0
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1]?.key
    if (token.key === '(') depth++
    if (token.key === ')') depth--
    if (index > 0 && depth === 0 && token.kind === 'word' && (before === 'DECLARE' || before === ','))
      names.push(token.text.toLowerCase())
    if (['DEFAULT', '=', 'INT64', 'STRING'].includes(token.key)) break
  }
  return names
}

function readRange(reading: Reading, tokens: readonly Token[]): void {
  for (const range of cut(reading.script, tokens, reading.dialect)) {
    const parts = reading.dialect.endsByKeyword ? cutByWords(range) : [range]
    for (const part of parts) readStatement(reading, part)
  }
}

/** MySQL's client lets a script choose what ends statements: `DELIMITER //`. */
function withoutDelimiters(script: string): string {
  if (!/^[ \t]*DELIMITER\s/im.test(script)) return script
  let delimiter = ';'
  return script
    .split('\n')
    .map((line) => {
      const [, chosen] = /^[ \t]*DELIMITER[ \t]+(\S+)/i.exec(line) ?? []
      if (chosen === undefined)
        return delimiter === ';' ? line : line.replaceAll(delimiter, ';'.padEnd(delimiter.length))
      delimiter = chosen
      return blank(line)
    })
    .join('\n')
}

/** The statements of a script, in order. */
export function splitScript(script: string, dialect: Dialect): Piece[] {
  const text = dialect.name === 'mysql' ? withoutDelimiters(script) : script
  const reading: Reading = { script: text, dialect, pieces: [], variables: new Set(), isInBody: false }
  readRange(reading, tokenize(text, dialect))
  return reading.pieces
}
