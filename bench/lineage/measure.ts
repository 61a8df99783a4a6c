/** Measures work repeatedly, less often if it is slow, and reports the number of runs. */

/** The median in milliseconds, and the number of runs. */
export type Timing = { medianMs: number; runs: number }

const usualRuns = 5
/** The number of runs for work whose first run took longer than these milliseconds. */
const slowerRuns = [
  { overMs: 4_000, runs: 1 },
  { overMs: 1_500, runs: 3 }
] as const

/** Runs the work and records its time. */
export type Clock = <T>(work: () => Promise<T>) => Promise<T>

/** Only what a run does within `clock` is timed; `check` gets its result, and throws if that is wrong. */
export async function timed<T>(
  run: (clock: Clock) => Promise<T>,
  check: (result: T) => void,
  runs = usualRuns
): Promise<Timing> {
  const times: number[] = []
  const clock: Clock = async (work) => {
    const begun = performance.now()
    const result = await work()
    times.push(performance.now() - begun)
    return result
  }
  for (let wanted = runs; times.length < wanted;) {
    check(await run(clock))
    wanted = Math.min(wanted, slowerRuns.find(({ overMs }) => Math.max(...times) > overMs)?.runs ?? wanted)
  }
  return { medianMs: median(times), runs: times.length }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** With as many digits as are significant: 0.042 ms, 3.1 ms, 812 ms. */
export function ms(value: number): string {
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ms`
}

/** `x250`. */
export const ratioText = (ratio: number): string =>
  `x${ratio >= 10 ? Math.round(ratio) : Number(ratio.toPrecision(2))}`
