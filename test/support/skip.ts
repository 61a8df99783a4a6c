/** Skipping a test whose tool is missing: allowed on someone's machine, a failure in CI. */
import type { Test } from 'tap'

/**
 * Returns false if `isMet`, so that `if (skipUnless(...)) return` can begin a test. Otherwise skips the test
 * with the reason, or fails it under CI=true, where nothing may go untested.
 */
export function skipUnless(t: Test, isMet: boolean, reason: string): boolean {
  if (isMet) return false
  if (process.env.CI === 'true') t.fail(`nothing may be skipped in CI: ${reason}`)
  else t.plan(0, reason)
  return true
}
