/**
 * Keeps the bytes of a source that can be read only once, so that they can be sent again: in memory, then in
 * a file.
 */
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { reasonOf } from '../failure.ts'

export type Spool = {
  /** All bytes from the beginning: the kept ones, then those still to come. One reader at a time. */
  read(): AsyncGenerator<Buffer>
  /** Why the source cannot be sent again; null if it can. */
  problem(): string | null
  /** Removes the kept bytes. */
  close(): Promise<void>
}

type SpoolFile = { handle: FileHandle; folder: string }

const memoryMaxBytes = 8 * 1024 * 1024
const pieceBytes = 64 * 1024

export function openSpool(source: Readable, folder: string = tmpdir(), memoryBytes = memoryMaxBytes): Spool {
  const iterator: AsyncIterator<unknown> = source[Symbol.asyncIterator]()
  let kept: Buffer[] = []
  let file: SpoolFile | null = null
  let total = 0
  /** The latest chunk, for the reader that waits for it. */
  let tail: { at: number; chunk: Buffer } | null = null
  let problem: string | null = null
  let isOver = false
  let pulling: Promise<void> | null = null

  async function pull(): Promise<void> {
    const { done, value } = await iterator.next()
    if (done === true) {
      isOver = true
      return
    }
    if (!Buffer.isBuffer(value)) throw new TypeError('what is sent comes in buffers')
    if (value.length === 0) return
    if (problem === null) await keep(value)
    tail = { at: total, chunk: value }
    total += value.length
  }

  /** With a full disk the upload continues, but cannot be repeated. */
  async function keep(chunk: Buffer): Promise<void> {
    try {
      if (file === null && total + chunk.length <= memoryBytes) kept.push(chunk)
      else {
        file ??= await moveToFile()
        await writeAt(file.handle, chunk, total)
      }
    } catch (error) {
      problem = reasonOf(error)
    }
  }

  async function moveToFile(): Promise<SpoolFile> {
    const made = await mkdtemp(join(folder, 'tributary-load-'))
    const handle = await open(join(made, 'input'), 'wx+', 0o600)
    let at = 0
    for (const chunk of kept) {
      await writeAt(handle, chunk, at)
      at += chunk.length
    }
    kept = []
    return { handle, folder: made }
  }

  async function keptAt(at: number): Promise<Buffer> {
    if (file !== null) {
      const piece = Buffer.allocUnsafe(Math.min(pieceBytes, total - at))
      const { bytesRead } = await file.handle.read(piece, 0, piece.length, at)
      if (bytesRead === 0) throw new Error('The kept part of standard input is gone.')
      return piece.subarray(0, bytesRead)
    }
    let from = 0
    for (const chunk of kept) {
      if (at < from + chunk.length) return chunk.subarray(at - from)
      from += chunk.length
    }
    throw new Error('The kept part of standard input is gone.')
  }

  async function* read(): AsyncGenerator<Buffer> {
    for (let at = 0; ;) {
      const chunk = tail !== null && at === tail.at ? tail.chunk : at < total ? await keptAt(at) : null
      if (chunk !== null) {
        at += chunk.length
        yield chunk
      } else if (isOver) return
      else {
        // shared: an abandoned reader may still wait for the same bytes
        pulling ??= pull().finally(() => {
          pulling = null
        })
        await pulling
      }
    }
  }

  return {
    read,
    problem: () => problem,
    async close() {
      // Otherwise a pending read of standard input would keep the process alive.
      source.destroy()
      if (file === null) return
      const { handle, folder: made } = file
      await handle.close().catch(() => {})
      await rm(made, { recursive: true, force: true })
    }
  }
}

async function writeAt(handle: FileHandle, chunk: Buffer, at: number): Promise<void> {
  const { bytesWritten } = await handle.write(chunk, 0, chunk.length, at)
  if (bytesWritten < chunk.length) throw new Error('no room for it')
}
