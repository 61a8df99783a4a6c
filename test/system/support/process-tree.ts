/**
 * The descendants of a process on this machine, so that a test can kill everything that it started and
 * nothing else.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** A process and all its descendants, itself first. Empty on systems without /proc. */
export function processTree(root: number): number[] {
  const childrenOf = new Map<number, number[]>()
  for (const [pid, parent] of parents()) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), pid])
  const tree = [root]
  for (const pid of tree) tree.push(...(childrenOf.get(pid) ?? []))
  return tree
}

/** Kills at once all that still run. */
export function killAll(pids: Iterable<number>): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it has ended meanwhile
    }
  }
}

function parents(): [pid: number, parent: number][] {
  return entries().flatMap((name) => {
    const pid = Number(name)
    const parent = pid > 0 ? parentOf(pid) : null
    return parent === null ? [] : [[pid, parent]]
  })
}

function entries(): string[] {
  try {
    return readdirSync('/proc')
  } catch {
    return []
  }
}

function parentOf(pid: number): number | null {
  try {
    const found = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return found ? Number(found[1]) : null
  } catch {
    return null
  }
}
