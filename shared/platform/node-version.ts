/**
 * Which version of Node.js this program needs. Imports nothing, so that an entry point can check before an
 * old Node.js reads syntax that it does not know.
 */

const least = [20, 19] as const

/** One plain line if the version is too old, otherwise null. */
export function nodeVersionProblem(version = process.versions.node): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > least[0] || (major === least[0] && minor >= least[1])) return null
  return `Tributary needs Node.js ${least.join('.')} or newer; this is ${version}.`
}
