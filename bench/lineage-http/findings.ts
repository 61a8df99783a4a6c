/** A finding: a figure with its goal and its context. */

export type Finding = {
  /** The row of the table in the docs. */
  row: number
  name: string
  value: number
  unit: 'x' | 'ms' | 's' | 'MB' | 'per s'
  goal: { atLeast: number } | { atMost: number }
  context: object
}

export const isMet = ({ value, goal }: Finding): boolean =>
  'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}

/** The value that a `share` of the values do not exceed: 0.99 gives the 99th percentile. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

export const rounded = (value: number): number => Number(value.toPrecision(3))

/** Ratios and goals first, context below, because times depend on the machine. */
export function* tableOf(findings: readonly Finding[]): Generator<string> {
  for (const finding of findings.toSorted((a, b) => a.row - b.row)) {
    const { row, name, value, unit, goal } = finding
    const wanted = 'atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`
    yield `row ${row}  ${name.padEnd(78)} ${String(rounded(value)).padStart(8)} ${unit.padEnd(2)}  ${wanted.padEnd(14)} ${isMet(finding) ? 'met' : 'NOT MET'}`
  }
  for (const { name, context } of findings) yield `${name}: ${JSON.stringify(context)}`
}
