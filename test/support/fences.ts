/** The fenced blocks of a page, with the comments before them that say what `npm run how-to` does with each. */
import { readFileSync } from 'node:fs'
import { packagePath } from '../../shared/platform/paths.ts'

/**
 * What a comment directly before a block says:
 *
 * - `not run: REASON`: nothing here can run it
 * - `file: NAME`: the reader writes it into this file
 * - `run: COMMAND`: the reader gives it to this command
 * - `exit: CODE`: its last command ends with this code
 * - `output`: what the block before it prints; `…` stands for any text of a line
 */
const words = ['not run', 'file', 'run', 'exit', 'output'] as const
type Word = (typeof words)[number]

export type Fence = {
  page: string
  /** The line of the opening fence, from 1. */
  line: number
  language: string
  /** Without the indentation of its list. */
  text: string
  marks: ReadonlyMap<Word, string>
}

const comment = /^\s*<!-- (.*) -->$/

/** The blocks of a page, in order. `page` is a path in the package. Throws if one has a comment it does not know. */
export function fencesOf(page: string): Fence[] {
  const lines = readFileSync(packagePath(page), 'utf8').split('\n')
  const fences: Fence[] = []
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent = '', language = ''] = /^( *)```(\w*)/.exec(lines[index] ?? '') ?? []
    if (!/^ *```/.test(lines[index] ?? '')) continue
    const marks = marksBefore(lines, index, page)
    const end = lines.indexOf(`${indent}\`\`\``, index + 1)
    if (end < 0) throw new Error(`${page}:${index + 1}: the block has no end`)
    const text = lines
      .slice(index + 1, end)
      .map((line) => `${line.startsWith(indent) ? line.slice(indent.length) : line}\n`)
      .join('')
    fences.push({ page, line: index + 1, language, text, marks })
    index = end
  }
  return fences
}

function marksBefore(lines: readonly string[], index: number, page: string): Map<Word, string> {
  const marks = new Map<Word, string>()
  // Prettier puts an empty line between a comment and a block
  for (let above = index - 1; above >= 0; above -= 1) {
    const line = lines[above] ?? ''
    if (line.trim() === '') continue
    const [, said] = comment.exec(line) ?? []
    if (said === undefined) break
    const [word = '', ...more] = said.split(': ')
    const known = words.find((name) => name === word)
    if (known === undefined)
      throw new Error(`${page}:${above + 1}: a comment before a block begins with ${words.join(', ')}`)
    marks.set(known, more.join(': ').trim())
  }
  return marks
}

/** Whether the reader types it into a shell. */
export const isForShell = ({ language, marks }: Fence): boolean =>
  (language === 'sh' || language === 'bash') && !marks.has('file')
