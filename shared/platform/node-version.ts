/**
 * Which versions of Node.js this program needs. Imports nothing, so that an entry point can check before an
 * old Node.js reads syntax that it does not know.
 */

/** The same as `engines` of package.json. Of every newer major version, any minor version will do. */
const least = [
  [20, 19],
  [22, 12]
] as const

/** One plain line that says what to do if the version is too old, otherwise null. */
export function nodeVersionProblem(version = process.versions.node): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 22 || least.some((each) => major === each[0] && minor >= each[1])) return null
  return `Tributary needs Node.js 20.19, 22.12 or newer; this is ${version}. Install one from https://nodejs.org/en/download, or with nvm: nvm install 24`
}
