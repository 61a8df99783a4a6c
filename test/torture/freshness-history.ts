/**
 * What was written and acknowledged, and whether a read may have answered what it did: the judge of freshness.
 *
 * Each key is a register. A write that is acknowledged before another begins is certainly older; what overlaps may have
 * come in any order. A read may show a write that began before the read ended, unless a later one, certain to have
 * happened, had been acknowledged before the read began.
 */

/** `unknown` where no answer came: the write may or may not have happened, now or until `settle`. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown'

/** What a write makes of keys. */
export type Effects = readonly (readonly [key: string, value: string])[]

/** One of these must hold; an empty list never does. */
export type Observation = readonly (readonly [key: string, value: string])[]

type Write = { value: string; invokedAt: number; acknowledgedAt: number; isCertain: boolean }

export type History = ReturnType<typeof createHistory>

const writesKeptCount = 100

/** `initial` is the value of a key before anything is written. `now` is one clock for all writers and readers, and never runs back. */
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

  /** What was acknowledged by then is overwritten for certain at `moment`. Before all writes it is -Infinity, and the initial value stands. */
  const overwrittenUntil = (writes: readonly Write[], moment: number): number =>
    writes.reduce(
      (latest, write) =>
        write.isCertain && write.acknowledgedAt <= moment ? Math.max(latest, write.invokedAt) : latest,
      -Infinity
    )

  const stands = (write: Write, until: number): boolean =>
    write.acknowledgedAt >= until || until === -Infinity

  /** No read that is under way or yet to come can be allowed to show what is dropped. */
  function forget(key: string, writes: readonly Write[]): void {
    const until = overwrittenUntil(writes, Math.min(now(), ...[...reads].map((read) => read.begunAt)))
    registers.set(
      key,
      writes.filter((write) => stands(write, until))
    )
  }

  return {
    /** Call it before the write is sent; call what it gives with the answer. */
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

    /** Call it before the read is sent; call what it gives with what the read showed: the observations that cannot be. */
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
              return writes.some((write) => write.value === value && stands(write, until))
            })
        )
      }
    },

    /** Call it when nothing that went unanswered can be running any more. Gives how many writes were unknown. */
    settle(): number {
      const count = unknown.size
      for (const write of unknown) write.acknowledgedAt = now()
      unknown.clear()
      return count
    },

    /** The values that a key may have now, for the message of a fault. */
    possible(key: string): string[] {
      const writes = register(key)
      const until = overwrittenUntil(writes, now())
      return [...new Set(writes.filter((write) => stands(write, until)).map((write) => write.value))].sort()
    }
  }
}
