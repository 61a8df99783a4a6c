/**
 * The phrases that docs/style.md bans, and the texts to look for them in: pages, GraphQL descriptions, messages, comments.
 *
 * A list of our own, because of the tools: the npm package of Vale downloads its binary from GitHub when it is installed,
 * and write-good marks 678 places in our docs, two thirds of them for the passive voice.
 */
import { readFileSync } from 'node:fs'
import typescript from 'typescript'
import { packagePath } from '../../shared/platform/paths.ts'

/** What must not be written, and what to write instead. */
export const bannedPhrases: readonly { pattern: RegExp; write: string }[] = [
  { pattern: /\blean ways?\b/i, write: 'fast path' },
  { pattern: /\bsift(?:s|ed|ing)?\b/i, write: 'filter' },
  { pattern: /\bmoulds?\b/i, write: 'template' },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were) none\b(?! of)/i,
    write: '"is not a valid …", or "does not exist"'
  },
  {
    pattern:
      /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|older\b|newer\b|faster\b|larger\b|shorter\b|other\b)\w+/i,
    write: '"is not a …"'
  },
  { pattern: /\bthere is no such\b/i, write: '"unknown", or "does not exist"' },
  {
    pattern: /\b(?:stands?|stood|standing) (?:in|at|on|under|beside|behind|alone|still)\b/i,
    write: '"is in", "follows", "waits"'
  },
  { pattern: /\bwhom\b/i, write: '"who", or the noun' },
  { pattern: /\bfor ever\b/i, write: 'forever' },
  { pattern: /\bwithout a word\b/i, write: 'silently' },
  { pattern: /\banew\b/i, write: 'again' },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, write: 'fix' },
  { pattern: /\bgo(?:es|ing)? on\b(?! top)/i, write: 'continue' },
  { pattern: /\bcase aside\b/i, write: 'ignoring case' },
  { pattern: /\bbut for\b/i, write: 'except' },
  { pattern: /\bin (?:its|their) place\b/i, write: 'instead' },
  { pattern: /\bin place of\b/i, write: 'instead of' },
  { pattern: /\bthereby\b/i, write: 'a sentence of its own' },
  { pattern: /\b(?:after|at most|until) so many\b/i, write: '"that many", or "at most N"' },
  { pattern: /\bheed(?:s|ed)?\b/i, write: 'obey' },
  { pattern: /\bwho has no\b/i, write: '"to …, use …", or "without …"' },
  { pattern: /\bof the very same\b/i, write: 'of the same' },
  { pattern: /\bfor so long\b(?! that\b)|\bso many requests\b/i, write: '"for this time", or "that many"' },
  {
    pattern: /\b(?:take|takes|took|taken|taking) (?:(?:it|them|that|both) )?back\b/i,
    write: 'undo'
  },
  { pattern: /[,;] else\b/i, write: 'otherwise' },
  { pattern: /\bworkers? lives?\b/i, write: '"is alive"' }
]

export type TextPiece = { line: number; text: string }

/** The lines of a page, without blocks of code. */
export function proseOf(page: string): TextPiece[] {
  let isCode = false
  return page.split('\n').flatMap((text, index) => {
    const isFence = text.trimStart().startsWith('```')
    if (isFence) isCode = !isCode
    return isCode || isFence ? [] : [{ line: index + 1, text: text.replaceAll(/`[^`]*`/g, '`…`') }]
  })
}

/** A line that begins a block of its own: a heading, an item, a quotation. */
const begins = /^\s*(?:#{1,6} |[-*+] |\d+\. |> )/
/** A row of a table, a tag, a comment: what is read in pieces. */
const isInPieces = (line: string): boolean => /^\s*(?:\||<)/.test(line)

/** The sentences of a page, in paragraphs and lists: not those of tables and blocks of code. A colon does not end one. */
export function sentencesOf(page: string): TextPiece[] {
  const blocks: TextPiece[] = []
  let isOpen = false
  let previous = 0
  for (const { line, text } of proseOf(page)) {
    const isProse = text.trim() !== '' && !isInPieces(text)
    const last = blocks.at(-1)
    if (isProse && isOpen && last && line === previous + 1 && !begins.test(text))
      last.text += ` ${text.trim()}`
    else if (isProse) blocks.push({ line, text: text.replace(begins, '').trim() })
    isOpen = isProse && !/^#{1,6} /.test(text)
    previous = line
  }
  return blocks.flatMap(({ line, text }) =>
    text
      .replaceAll(/\]\([^)]*\)/g, ']')
      .split(/(?<=[.!?]["')*_\]]*)\s+(?=["'(*_[]*[\p{Lu}\p{N}`])/u)
      .map((sentence) => ({ line, text: sentence }))
  )
}

/** A span of code, a number and a name with hyphens are a word each; a dash and a bar are not one. */
export const wordsIn = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}…]/u.test(word)).length

/** The descriptions of a GraphQL schema. */
export const descriptionsOf = (schema: string): TextPiece[] =>
  [...schema.matchAll(/"""([^]*?)"""|"([^"\n]+)"/g)].map((match) => ({
    line: schema.slice(0, match.index).split('\n').length,
    text: (match[1] ?? match[2] ?? '').replaceAll(/\s+/g, ' ')
  }))

const isSql = (text: string): boolean =>
  /^\s*(?:select|with|insert|update|delete|lock|create|copy|and|or|left join|union|from)\b/.test(text) ||
  /\b(?:select|where|returning)\b.*[=?"]/.test(text)

/** The texts of three words or more in a TypeScript file that are not SQL: messages, help, logs. */
export function messagesOf(path: string): TextPiece[] {
  const source = parseSource(path)
  const found: TextPiece[] = []
  const visit = (node: typescript.Node): void => {
    if (
      typescript.isStringLiteral(node) ||
      typescript.isNoSubstitutionTemplateLiteral(node) ||
      typescript.isTemplateExpression(node)
    ) {
      const text = node
        .getText(source)
        .slice(1, -1)
        .replaceAll(/\$\{[^}]*\}/g, '…')
        .replaceAll(/\s+/g, ' ')
      if (text.split(' ').length >= 3 && !isSql(text))
        found.push({ line: lineOf(source, node.getStart()), text })
    }
    typescript.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** The comments of a TypeScript file: blocks, and runs of line comments. */
export function commentsOf(path: string): TextPiece[] {
  const source = readFileSync(packagePath(path), 'utf8')
  return [...source.matchAll(/\/\*\*[^]*?\*\/|(?:^[ \t]*\/\/ .*\n)+/gm)].map((match) => ({
    line: source.slice(0, match.index).split('\n').length,
    text: match[0]
      .replaceAll(/^\s*(?:\/\*\*|\*\/|\*|\/\/)|\*\/$/gm, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
  }))
}

/** Each piece with a banned phrase, as `line: text`, with the replacement. */
export const bannedIn = (pieces: readonly TextPiece[], phrases = bannedPhrases): string[] =>
  pieces.flatMap(({ line, text }) =>
    phrases.flatMap(({ pattern, write }) => {
      const at = text.search(pattern)
      return at < 0 ? [] : [`${line}: …${text.slice(Math.max(0, at - 40), at + 60)}… Write ${write}.`]
    })
  )

const parseSource = (path: string): typescript.SourceFile =>
  typescript.createSourceFile(
    path,
    readFileSync(packagePath(path), 'utf8'),
    typescript.ScriptTarget.Latest,
    true
  )

const lineOf = (source: typescript.SourceFile, position: number): number =>
  source.getLineAndCharacterOfPosition(position).line + 1
