/** Short texts in UTF-8, packed one after the other. A text is found by its place, and never removed. */

import { areSame, viewOf } from '../urn/byte-words.ts'

const pieceBits = 20
const pieceBytes = 1 << pieceBits
/** Two bytes before each text contain its length. */
const lengthBytes = 2
const longest = 0xffff

const encoder = new TextEncoder()

export class BytesPool {
  #pieces: Buffer[] = []
  #views: DataView[] = []
  #end = pieceBytes

  /**
   * Returns the place of the text. Throws for a text of more than 65,535 bytes, and if all texts together
   * have more than 4 GB.
   */
  add(text: string): number {
    if (this.#end + lengthBytes + text.length * 3 > pieceBytes) this.#addPiece(text)
    const piece = this.#pieces.at(-1)
    if (!piece) throw new Error('no piece to write to')
    const { written } = encoder.encodeInto(text, piece.subarray(this.#end + lengthBytes))
    if (written > longest) throw new Error(`a text of ${written} bytes`)
    piece.writeUInt16LE(written, this.#end)
    const place = (this.#pieces.length - 1) * pieceBytes + this.#end
    this.#end += lengthBytes + written
    return place
  }

  /** Refuses a text that may not fit into a piece at three bytes for each character. */
  #addPiece(text: string): void {
    if (lengthBytes + text.length * 3 > pieceBytes) throw new Error(`a text of ${text.length} characters`)
    if (this.#pieces.length === 2 ** (32 - pieceBits)) throw new Error('the texts have more than 4 GB')
    const piece = Buffer.allocUnsafeSlow(pieceBytes)
    this.#pieces.push(piece)
    this.#views.push(viewOf(piece))
    this.#end = 0
  }

  at(place: number): string {
    const piece = this.#pieces[place >>> pieceBits]
    if (!piece) throw new Error(`no text at ${place}`)
    const begin = place & (pieceBytes - 1)
    return piece.toString('utf8', begin + lengthBytes, begin + lengthBytes + piece.readUInt16LE(begin))
  }

  /** The length of a text, in bytes. */
  lengthAt(place: number): number {
    return this.#viewOf(place).getUint16(place & (pieceBytes - 1), true)
  }

  /** Whether the text at a place is equal to the bytes from `from` to before `to`. */
  isAt(place: number, bytes: DataView, from: number, to: number): boolean {
    const view = this.#viewOf(place)
    const begin = place & (pieceBytes - 1)
    return (
      view.getUint16(begin, true) === to - from && areSame(view, begin + lengthBytes, bytes, from, to - from)
    )
  }

  #viewOf(place: number): DataView {
    const view = this.#views[place >>> pieceBits]
    if (!view) throw new Error(`no text at ${place}`)
    return view
  }

  get bytes(): number {
    return this.#pieces.length * pieceBytes
  }
}
