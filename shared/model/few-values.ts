/** The values of a long column that has few of them, each once, in the order in which they first come. A set that takes all of them takes ten times as long. */
export function fewValuesOf(length: number, valueAt: (at: number) => number): number[] {
  const values: number[] = []
  let last = NaN
  for (let at = 0; at < length; at += 1) {
    const value = valueAt(at)
    if (value === last) continue
    last = value
    if (!values.includes(value)) values.push(value)
  }
  return values
}
