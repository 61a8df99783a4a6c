/**
 * Sorts indexes by a column of numbers, digit by digit (a radix sort). For thousands of numbers this is five
 * times as fast as comparing them.
 */

const digitBits = 11
const digitCount = 1 << digitBits

/** All indexes of a column, in ascending order. */
export function placesUpTo(count: number): Uint32Array<ArrayBuffer> {
  const places = new Uint32Array(count)
  for (let place = 0; place < count; place += 1) places[place] = place
  return places
}

/**
 * The places ordered by their keys, which must not be negative. Equal keys keep their order, so to sort by
 * two keys, sort by the minor key first.
 */
export function orderedBy(key: Int32Array, places: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  let [greatest, last, isAscending] = [0, 0, true]
  // Indexed loops, here and below: an iterator over a typed array takes three times as long.
  for (let index = 0; index < places.length; index += 1) {
    const number = key[places[index] ?? 0] ?? 0
    if (number > greatest) greatest = number
    if (number < last) isAscending = false
    last = number
  }
  if (isAscending) return places
  let [from, to] = [places, new Uint32Array(places.length)]
  for (let shift = 0; shift < 32 && greatest >>> shift > 0; shift += digitBits) {
    sortByDigit(key, shift, from, to)
    ;[from, to] = [to, places === from ? new Uint32Array(places.length) : from]
  }
  return from
}

function sortByDigit(key: Int32Array, shift: number, from: Uint32Array, to: Uint32Array): void {
  const next = new Uint32Array(digitCount + 1)
  for (let index = 0; index < from.length; index += 1) {
    const digit = ((key[from[index] ?? 0] ?? 0) >>> shift) & (digitCount - 1)
    next[digit + 1] = (next[digit + 1] ?? 0) + 1
  }
  for (let digit = 1; digit < digitCount; digit += 1)
    next[digit] = (next[digit] ?? 0) + (next[digit - 1] ?? 0)
  for (let index = 0; index < from.length; index += 1) {
    const place = from[index] ?? 0
    const digit = ((key[place] ?? 0) >>> shift) & (digitCount - 1)
    const at = next[digit] ?? 0
    to[at] = place
    next[digit] = at + 1
  }
}
