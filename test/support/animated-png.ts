/** Joins pictures into an animated PNG, whose chunks acTL, fcTL and fdAT are those of the PNG specification, third edition. */
import { crc32 } from 'node:zlib'

const signatureLength = 8
/** The fields of a chunk around its data: length, type and checksum. */
const [headLength, checkLength] = [8, 4]

type Chunk = { type: string; data: Buffer }

function* chunksOf(png: Buffer): Generator<Chunk> {
  for (let at = signatureLength; at < png.length;) {
    const length = png.readUInt32BE(at)
    const from = at + headLength
    yield { type: png.toString('latin1', at + 4, from), data: png.subarray(from, from + length) }
    at = from + length + checkLength
  }
}

function printChunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([numbers(data.length), typed, numbers(crc32(typed))])
}

/** Each as four bytes. */
function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4)
  return bytes
}

/** How long a picture is shown, as a fraction of a second in two numbers of two bytes; it replaces the one before. */
function control(turn: number, size: Buffer, millis: number): Buffer {
  const end = Buffer.alloc(6)
  end.writeUInt16BE(millis, 0)
  end.writeUInt16BE(1_000, 2)
  return printChunk('fcTL', Buffer.concat([numbers(turn), size, numbers(0, 0), end]))
}

/** The pictures are PNGs of one size and one kind of colour. It is repeated for ever. */
export function animatedPng(frames: readonly { png: Buffer; millis: number }[]): Buffer {
  const [first] = frames
  if (!first) throw new Error('an animation has at least one picture')
  const header = [...chunksOf(first.png)].find(({ type }) => type === 'IHDR')
  if (!header) throw new Error('the first picture is no PNG')
  let turn = 0
  const parts = frames.flatMap(({ png, millis }, index) => {
    const chunks = [...chunksOf(png)]
    if (!chunks.find(({ type }) => type === 'IHDR')?.data.equals(header.data))
      throw new Error(`picture ${index + 1} is of another size or colour than the first`)
    const data = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data))
    const timed = control(turn++, header.data.subarray(0, 8), millis)
    // Programs that know no animations show the first picture.
    return index === 0
      ? [timed, printChunk('IDAT', data)]
      : [timed, printChunk('fdAT', Buffer.concat([numbers(turn++), data]))]
  })
  return Buffer.concat([
    first.png.subarray(0, signatureLength),
    printChunk('IHDR', header.data),
    printChunk('acTL', numbers(frames.length, 0)),
    ...parts,
    printChunk('IEND', Buffer.alloc(0))
  ])
}
