/** Reads bytes four at a time, through a DataView: other views of words must begin at multiples of four. */

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/**
 * Whether that many bytes at two places are equal: a third of the time of comparing byte by byte. Both must
 * have them, or it may throw a RangeError.
 */
export function areSame(
  one: DataView,
  oneBegin: number,
  other: DataView,
  otherBegin: number,
  length: number
): boolean {
  let at = 0
  for (; at + 4 <= length; at += 4)
    if (one.getInt32(oneBegin + at, true) !== other.getInt32(otherBegin + at, true)) return false
  for (; at < length; at += 1)
    if (one.getUint8(oneBegin + at) !== other.getUint8(otherBegin + at)) return false
  return true
}
