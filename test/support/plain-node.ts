/** Node without tap's loaders: tap preloads its own compiler into every child process of a test, by NODE_OPTIONS. */

/**
 * Command and arguments that run node plainly, for spawn. `env` unsets what tap would put back at the spawn itself.
 */
export function plainNode(...args: readonly string[]): [command: string, args: string[]] {
  return ['/usr/bin/env', ['-u', 'NODE_OPTIONS', process.execPath, ...args]]
}
