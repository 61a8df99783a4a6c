/** The speed of work that is being done, and the time that the rest of it takes, by what was done lately. */

export type Pace = {
  /** Tells what is done until now. Less than before means that the work began again. */
  reached(done: number): void
  /** Done per second in the last while; null before anything can be known. */
  perSecond(): number | null
  /** Milliseconds until `total` is done; null if unknown. */
  leftMs(total: number): number | null
}

/** Long enough for a steady figure, short enough for one of what happens now. */
const rememberedMs = 20_000
/** A sample in each part of that time is enough. */
const sampleEveryMs = 500
/** Before, a figure would jump. */
const knownAfterMs = 1_000

export function createPace(now: () => number): Pace {
  let samples: { at: number; done: number }[] = []
  let newest = { at: now(), done: 0 }

  return {
    reached(done) {
      const at = now()
      if (done < newest.done) samples = []
      newest = { at, done }
      const last = samples.at(-1)
      if (last === undefined || at - last.at >= sampleEveryMs) samples.push(newest)
      // the oldest sample is one from before the remembered time, so that a slow work still has a pace
      while ((samples[1]?.at ?? at) < at - rememberedMs) samples.shift()
    },
    perSecond,
    leftMs(total) {
      const speed = perSecond()
      return speed === null || speed === 0 ? null : (Math.max(0, total - newest.done) / speed) * 1_000
    }
  }

  function perSecond(): number | null {
    const [oldest] = samples
    // without progress the speed falls, although nothing is reached
    const elapsedMs = now() - (oldest?.at ?? now())
    return oldest === undefined || elapsedMs < knownAfterMs
      ? null
      : ((newest.done - oldest.done) * 1_000) / elapsedMs
  }
}
