/** Times work again and again, fewer times where it is slow, and says how often. */

/** Milliseconds: the median, and of how many runs. */
export type Timing = { medianMs: number; runs: number }

const usualRuns = 5
/** Runs in all of what first took longer than so many milliseconds. */
const slowerRuns = [
  { overMs: 4_000, runs: 1 },
  { overMs: 1_500, runs: 3 }
] as const

/** Does the work and keeps the time of it. */
export type Clock = <T>(work: () => Promise<T>) => Promise<T>

/** What a run does within `clock` is timed; `check` looks at what it gave and throws where that is wrong. */
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

/** With as many digits as say something: 0.042 ms, 3.1 ms, 812 ms. */
export function ms(value: number): string {
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ms`
}

/** `x250`. */
export const ratioText = (ratio: number): string =>
  `x${ratio >= 10 ? Math.round(ratio) : Number(ratio.toPrecision(2))}`
