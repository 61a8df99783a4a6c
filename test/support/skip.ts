/** Skipping a test whose tool is missing: allowed on someone's machine, a failure in CI. */
import type { Test } from 'tap'

/**
 * False when `isMet`, so that `if (skipUnless(...)) return` opens a test. Otherwise skips the test with the reason, or,
 * under CI=true, fails it: nothing goes untested there.
 */
export function skipUnless(t: Test, isMet: boolean, reason: string): boolean {
  if (isMet) return false
  if (process.env.CI === 'true') t.fail(`nothing may be skipped in CI: ${reason}`)
  else t.plan(0, reason)
  return true
}
