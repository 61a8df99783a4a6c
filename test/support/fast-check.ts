/**
 * fast-check with the seed of this run: a fixed one, so that `npm test` gives everyone the same result, or SEED.
 *
 * CI sets SEED to a random number and prints it, which is how new cases are found.
 */
import fc from 'fast-check'

export const fixedSeed = 20_261_122
export const seed = Number(process.env.SEED || fixedSeed)

fc.configureGlobal({ seed })

export { fc }
