/** Gives each of some processes a share of a core, by the CPU controller of Linux' control groups. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type CpuLimit = {
  /** Takes the limit off; the processes go on. */
  lift(): void
}

const periodUs = 10_000

/** In version 1 the CPU controller has its own hierarchy. In version 2 all share one, and it must be enabled for child groups. */
const hierarchies = [
  {
    root: '/sys/fs/cgroup/cpu',
    prepare: () => {},
    limit: (group: string, quotaUs: number) => {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(periodUs))
      writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quotaUs))
    }
  },
  {
    root: '/sys/fs/cgroup',
    prepare: (root: string) => {
      writeFileSync(join(root, 'cgroup.subtree_control'), '+cpu')
    },
    limit: (group: string, quotaUs: number) => {
      writeFileSync(join(group, 'cpu.max'), `${quotaUs} ${periodUs}`)
    }
  }
]

/** Each process gets `cores` of a core. Null where that cannot be done: not root, not Linux, or no such controller. */
export function limitProcesses(pids: readonly number[], cores: number): CpuLimit | null {
  for (const { root, prepare, limit } of hierarchies) {
    if (!existsSync(join(root, 'cgroup.procs'))) continue
    const groups: string[] = []
    const lift = () => {
      for (const [index, group] of groups.entries()) {
        moveTo(root, pids[index])
        rmdirSync(group)
      }
    }
    try {
      prepare(root)
      for (const pid of pids) {
        const group = join(root, `tributary-bench-${pid}`)
        mkdirSync(group)
        groups.push(group)
        limit(group, Math.round(cores * periodUs))
        moveTo(group, pid)
      }
      return { lift }
    } catch {
      lift()
    }
  }
  return null
}

function moveTo(group: string, pid: number | undefined): void {
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(pid))
  } catch {
    // it has ended
  }
}
