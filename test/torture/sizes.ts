/** How large a torture is: a full run, a quick one for CI, and one for each rule that is left out to see it go wrong. */
import type { Size } from './torture.ts'

const noFaults = { worker: 0, api: 0, backend: 0, queue: 0, postgres: 0, failover: 0 }

export const sizes: Record<'quick' | 'full', Size> = {
  quick: {
    edges: 10_000,
    firstLoads: [40_000, 20_000, 20_000, 20_000],
    recordsPerLoad: 10_000,
    waitingMin: 20_000,
    deleteEveryMs: 1_000,
    leastMs: 0,
    faults: { worker: 20, api: 2, backend: 10, queue: 3, postgres: 1, failover: 0 }
  },
  full: {
    // What waits is more than killed workers leave behind until their leases have run out: each fault meets work.
    edges: 200_000,
    firstLoads: [1_000_000, 100_000, 100_000, 100_000],
    recordsPerLoad: 500_000,
    waitingMin: 400_000,
    deleteEveryMs: 1_000,
    leastMs: 0,
    faults: { worker: 200, api: 20, backend: 100, queue: 20, postgres: 5, failover: 0 }
  }
}

/** A small catalog, because each new standby is a copy of it, under as many failovers as there are seconds for. */
const underFailovers = {
  edges: 5_000,
  firstLoads: [20_000, 10_000],
  recordsPerLoad: 5_000,
  waitingMin: 10_000,
  deleteEveryMs: 500,
  leastMs: 0
}

export const failoverSizes: Record<'quick' | 'full', Size> = {
  // Nothing else: what a killed worker holds waits ten seconds for the end of its lease.
  quick: { ...underFailovers, faults: { ...noFaults, failover: 3 } },
  full: {
    ...underFailovers,
    faults: { worker: 50, api: 10, backend: 50, queue: 10, postgres: 0, failover: 100 }
  }
}

/** A crash of PgBouncer is its failover. Fewer kills of workers, whose leases take ten seconds to run out. */
export const pgBouncerSizes: Record<'quick' | 'full', Size> = {
  quick: { ...sizes.quick, faults: { worker: 5, api: 1, backend: 10, queue: 1, postgres: 1, failover: 10 } },
  full: { ...sizes.full, faults: { ...sizes.full.faults, failover: 100 } }
}

/** What is enough to go wrong without one rule, and goes right with all of them. */
const contested: Size = {
  edges: 2_000,
  firstLoads: [10_000, 10_000, 10_000, 10_000],
  recordsPerLoad: 5_000,
  waitingMin: 10_000,
  deleteEveryMs: 200,
  leastMs: 10_000,
  faults: noFaults
}

/** `freezeShare`: of the chunks, before which a worker stands still until its lease has run out. */
export type Red = { size: Size; freezeShare: number }

/** The rules that the torture shows to be needed, each by the run that goes wrong without it. The others are shown by test/guards.test.ts and test/load-recovery.test.ts. */
export const reds: Record<string, Red> = {
  keepsOrder: { size: contested, freezeShare: 0 },
  // Long loads: what a frozen worker does to a load that has ended meanwhile is not seen.
  fence: {
    size: {
      ...contested,
      firstLoads: [50_000, 50_000],
      recordsPerLoad: 50_000,
      waitingMin: 25_000,
      leastMs: 40_000
    },
    freezeShare: 0.25
  },
  sweeper: { size: { ...contested, leastMs: 2_000, faults: { ...noFaults, queue: 1 } }, freezeShare: 0 }
}
