/**
 * fast-check with the seed of this run: a fixed one, so that `npm test` gives everyone the same result, or SEED.
 *
 * CI sets SEED to a random number and prints it, which is how new cases are found.
 */
import fc from 'fast-check'

export const fixedSeed = 20_261_122
export const seed = Number(process.env.SEED || fixedSeed)

fc.configureGlobal({ seed })

const shareOfFixedSeed = 0.25

/**
 * How many random cases a slow property tries: all of them if SEED is set, and a quarter with the fixed seed,
 * which always gives the same ones. `npm run histories` tries more.
 */
export const casesOf = (count: number): number =>
  process.env.SEED ? count : Math.ceil(count * shareOfFixedSeed)

export { fc }
