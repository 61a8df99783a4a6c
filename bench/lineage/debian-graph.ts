/**
 * Reads the package index of a Debian or Ubuntu machine as a graph: a package is downstream of its
 * dependencies.
 */
import { spawnSync } from 'node:child_process'
import type { EdgeList } from './project-graph.ts'

const outputMaxBytes = 1024 * 1024 * 1024

/**
 * Null if apt-cache is missing or knows no packages. All alternatives (`a | b`) count as dependencies;
 * versions are ignored.
 */
export function readDebianGraph(): { names: string[]; edges: EdgeList } | null {
  const { status, stdout } = spawnSync('apt-cache', ['dumpavail'], {
    encoding: 'utf8',
    maxBuffer: outputMaxBytes
  })
  if (status !== 0 || !stdout) return null
  const numbers = new Map<string, number>()
  const numberOf = (name: string) => {
    const known = numbers.get(name)
    if (known !== undefined) return known
    numbers.set(name, numbers.size)
    return numbers.size - 1
  }
  const upstreamsOf = new Map<number, Set<number>>()
  let own = new Set<number>()
  for (const [, field = '', value = ''] of stdout.matchAll(/^(Package|Depends|Pre-Depends): (.*)$/gm)) {
    if (field === 'Package') {
      own = upstreamsOf.get(numberOf(value)) ?? new Set()
      upstreamsOf.set(numberOf(value), own)
    } else {
      for (const [name] of value.matchAll(/(?<=^|[,|] *)[a-z0-9][a-z0-9+.-]+/g)) own.add(numberOf(name))
    }
  }
  const pairs = [...upstreamsOf].flatMap(([downstream, upstreams]) =>
    [...upstreams]
      .filter((upstream) => upstream !== downstream)
      .map((upstream) => [upstream, downstream] as const)
  )
  if (pairs.length === 0) return null
  return {
    names: [...numbers.keys()],
    edges: {
      upstream: Int32Array.from(pairs, ([upstream]) => upstream),
      downstream: Int32Array.from(pairs, ([, downstream]) => downstream)
    }
  }
}

export const debianUrn = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:debian,${name},PROD)`
