/** Turns the operands of the command line into the files to send: files, folders, patterns, standard input. */
import { formatOfEnding, loadFormats } from '../../shared/formats/load-formats.ts'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { reasonOf, Refusal } from '../failure.ts'
import { expandPattern, isPattern } from './glob.ts'

export type Packing = 'gzip' | 'zstd'

export type LoadInput = {
  /** `-` is standard input. */
  path: string
  /** The format that the ending of its name stands for; null if it stands for none. */
  format: string | null
  packing: Packing | null
  /** Null if the size is not known in advance: standard input, a pipe. */
  bytes: number | null
}

/** More files than this are probably a mistake, such as a parent folder. */
const inputsMaxCount = 10_000

/** A file that ends in .json may be in any of several formats. */
const fileEndings = [...Object.values(loadFormats).flatMap((format) => [...format.fileEndings]), 'json']
const packings: Readonly<Record<string, Packing>> = { gz: 'gzip', zst: 'zstd' }
const endingNames = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  fileEndings.map((ending) => `.${ending}`)
)

const knownName = new RegExp(`\\.(${fileEndings.join('|')})(?:\\.(gz|zst))?$`, 'i')

/** In the given order, the files of folders and patterns by name, each file once. Throws Refusal. */
export function findInputs(operands: readonly string[]): LoadInput[] {
  const inputs = new Map<string, LoadInput>()
  for (const operand of operands) {
    if (operand === '-') inputs.set('-', { path: '-', format: null, packing: null, bytes: null })
    else for (const path of pathsOf(operand)) inputs.set(resolve(path), inputAt(path))
    if (inputs.size > inputsMaxCount)
      throw new Refusal(`${operand} matches more than ${inputsMaxCount} files: name fewer at once.`)
  }
  return [...inputs.values()]
}

function pathsOf(operand: string): string[] {
  if (!isPattern(operand) || existsSync(operand)) return filesAt(operand)
  const paths = expandPattern(operand)
  if (paths.length === 0) throw new Refusal(`Nothing fits ${operand}.`)
  return paths.flatMap(filesAt)
}

/** The path itself; for a folder, the files in it whose names have a known ending. */
function filesAt(path: string): string[] {
  if (!isFolder(path)) return [path]
  const files = [...filesBelow(path)]
  if (files.length === 0)
    throw new Refusal(
      `The folder ${path} contains no file that ends in ${endingNames}, plain or with .gz or .zst.`
    )
  return files
}

/** Links to folders are not followed: they could form a cycle. */
function* filesBelow(folder: string): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (knownName.test(entry.name) && (entry.isFile() || (entry.isSymbolicLink() && !isFolder(path))))
      yield path
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function inputAt(path: string): LoadInput {
  const [, format = '', packing = ''] = knownName.exec(path) ?? []
  const [, packedAs = packing] = /\.(gz|zst)$/i.exec(path) ?? []
  return {
    path,
    format: formatOfEnding(format.toLowerCase()),
    packing: packings[packedAs.toLowerCase()] ?? null,
    bytes: sizeOf(path)
  }
}

function sizeOf(path: string): number | null {
  try {
    const stat = statSync(path)
    // a pipe (such as a process substitution) has no size
    return stat.isFile() ? stat.size : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new Refusal(`There is no file ${path}.`, undefined, { cause: error })
    throw new Refusal(`The file ${path} cannot be read: ${reasonOf(error)}`, undefined, { cause: error })
  }
}
