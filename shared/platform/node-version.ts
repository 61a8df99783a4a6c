/** Which Node.js this program needs. Imports nothing, so that the entry points can ask before an old Node meets the rest. */

const least = [22, 12] as const

/** One plain line where the version is too old, else null. */
export function nodeVersionProblem(version = process.versions.node): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > least[0] || (major === least[0] && minor >= least[1])) return null
  return `Tributary needs Node.js ${least.join('.')} or newer; this is ${version}.`
}
