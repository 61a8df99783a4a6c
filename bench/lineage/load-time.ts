/** Row 4: a new process loads the graph: the time until its first correct answer, and its memory then. */
import { spawnSync } from 'node:child_process'
import { packagePath } from '../../shared/platform/paths.ts'
import type { BenchGraph } from './graphs.ts'
import { median } from './measure.ts'

const runs = 3

/**
 * Times since the start of the process; `cpuMs` is its processor time. `rssMb` is resident right after the
 * answer, `peakMb` the maximum. All are medians.
 */
export type LoadFinding = {
  runs: number
  loadMs: number
  firstAnswerMs: number
  cpuMs: number
  rssMb: number
  peakMb: number
}

type Printed = Omit<LoadFinding, 'runs'> & { total: number; engine: string }

export function benchLoadTime(url: string, graph: BenchGraph): LoadFinding {
  const [pick] = graph.picks
  if (!pick) throw new Error(`${graph.name} has no start`)
  const printed = Array.from({ length: runs }, (): Printed => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [packagePath('dist/bench/lineage/cold-start.js'), url, graph.urnOf(pick.node)],
      { encoding: 'utf8' }
    )
    if (status !== 0) throw new Error(stderr)
    const found = JSON.parse(stdout) as Printed
    if (found.engine !== 'memory' || found.total !== pick.reach)
      throw new Error(`the fresh process answered ${stdout}; right is ${pick.reach}`)
    return found
  })
  const medianOf = (name: 'loadMs' | 'firstAnswerMs' | 'cpuMs' | 'rssMb' | 'peakMb') =>
    median(printed.map((found) => found[name]))
  return {
    runs,
    loadMs: medianOf('loadMs'),
    firstAnswerMs: medianOf('firstAnswerMs'),
    cpuMs: medianOf('cpuMs'),
    rssMb: medianOf('rssMb'),
    peakMb: medianOf('peakMb')
  }
}
