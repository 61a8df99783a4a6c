/** Long texts as they are kept until the whole project is known: a fifth of their size, outside of the heap. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

export type PackedText = Buffer

export const packText = (text: string): PackedText => deflateRawSync(text, { level: 1 })

export const unpackText = (packed: PackedText): string => inflateRawSync(packed).toString()
