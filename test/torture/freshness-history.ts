/**
 * Records what was written and acknowledged, and decides whether a read may have returned its answer. Each
 * key is a register. A write that is acknowledged before another begins is older; overlapping writes may
 * have happened in any order. A read may show a write that began before the read ended, unless a later write
 * that certainly happened was acknowledged before the read began.
 */

/**
 * `unknown` without an answer: the write may or may not have happened, or may still happen until `settle`.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown'

/** The values that a write gives to keys. */
export type Effects = readonly (readonly [key: string, value: string])[]

/** At least one of these must be true; an empty list never is. */
export type Observation = readonly (readonly [key: string, value: string])[]

type Write = { value: string; invokedAt: number; acknowledgedAt: number; isCertain: boolean }

export type History = ReturnType<typeof createHistory>

const writesKeptCount = 100

/**
 * `initial` is the value of a key before any write. `now` is the clock of all writers and readers, and never
 * goes back.
 */
export function createHistory(initial: (key: string) => string, now: () => number = () => performance.now()) {
  const registers = new Map<string, Write[]>()
  const unknown = new Set<Write>()
  const reads = new Set<{ begunAt: number }>()

  function register(key: string): Write[] {
    const known = registers.get(key)
    if (known) return known
    const made = [{ value: initial(key), invokedAt: -Infinity, acknowledgedAt: -Infinity, isCertain: true }]
    registers.set(key, made)
    return made
  }

  /**
   * Everything acknowledged before this time is certainly overwritten at `moment`. Before the first write it
   * is -Infinity, and the initial value is current.
   */
  const overwrittenUntil = (writes: readonly Write[], moment: number): number =>
    writes.reduce(
      (latest, write) =>
        write.isCertain && write.acknowledgedAt <= moment ? Math.max(latest, write.invokedAt) : latest,
      -Infinity
    )

  const mayBeShown = (write: Write, until: number): boolean =>
    write.acknowledgedAt >= until || until === -Infinity

  /** Drops writes that no running or later read may show. */
  function forget(key: string, writes: readonly Write[]): void {
    const until = overwrittenUntil(writes, Math.min(now(), ...[...reads].map((read) => read.begunAt)))
    registers.set(
      key,
      writes.filter((write) => mayBeShown(write, until))
    )
  }

  return {
    /** Call it before sending the write, and the returned function with the answer. */
    write(effects: Effects): (outcome: Outcome) => void {
      const begun = effects.map(([key, value]) => {
        const write: Write = { value, invokedAt: now(), acknowledgedAt: Infinity, isCertain: false }
        register(key).push(write)
        return { key, write }
      })
      return (outcome) => {
        for (const { key, write } of begun) {
          const writes = register(key)
          if (outcome === 'refused')
            registers.set(
              key,
              writes.filter((each) => each !== write)
            )
          if (outcome === 'unknown') unknown.add(write)
          if (outcome !== 'acknowledged') continue
          write.acknowledgedAt = now()
          write.isCertain = true
          if (writes.length > writesKeptCount) forget(key, writes)
        }
      }
    },

    /**
     * Call it before sending the read, and the returned function with what the read showed; that returns the
     * impossible observations.
     */
    read(): (observed: readonly Observation[]) => Observation[] {
      const read = { begunAt: now() }
      reads.add(read)
      return (observed) => {
        reads.delete(read)
        return observed.filter(
          (anyOf) =>
            !anyOf.some(([key, value]) => {
              const writes = register(key)
              const until = overwrittenUntil(writes, read.begunAt)
              return writes.some((write) => write.value === value && mayBeShown(write, until))
            })
        )
      }
    },

    /** Call it when no unanswered write can be running any more. Returns how many writes are unknown. */
    settle(): number {
      const count = unknown.size
      for (const write of unknown) write.acknowledgedAt = now()
      unknown.clear()
      return count
    },

    /** The possible values of a key now, for the message of a fault. */
    possible(key: string): string[] {
      const writes = register(key)
      const until = overwrittenUntil(writes, now())
      return [
        ...new Set(writes.filter((write) => mayBeShown(write, until)).map((write) => write.value))
      ].sort()
    }
  }
}
