/** Compares the ratios of rows 1, 4, 7 and 8 with their goals. */
import type { Finding } from '../lineage-http/findings.ts'
import type { ChangesFinding } from './edge-changes.ts'
import type { EmptyRow, FanRow } from './fans.ts'
import { depthContender } from './contenders-in-sql.ts'
import type { Best } from './finals.ts'
import type { Cell, WalkRow } from './graph-walks.ts'
import type { LoadFinding } from './load-time.ts'
import type { MarquezRow } from './marquez-bench.ts'
import type { Pick } from './picks.ts'

/** The time of the cell divided by that of Tributary's walk; a lower bound if it did not end. */
export const ratioOf = (cell: Cell): number =>
  ('medianMs' in cell ? cell.medianMs : cell.endedAfterMs) / cell.besideMs

/**
 * Smaller reaches are only in the table: there, a round trip is most of the time of SQL, and memory needs
 * none.
 */
export const isLarge = ({ reach }: Pick): boolean => reach >= 40_000

/** The goals of row 1 are for this graph; the others are context. */
const graphOfGoals = 'M'

/** Of one large walk. */
export function walkFindings(
  graph: string,
  { name, reach, depth }: Pick,
  rows: readonly WalkRow[],
  best: Best | null
): Finding[] {
  if (graph !== graphOfGoals) return []
  const deep = rows.find(({ contender }) => contender === depthContender.name)?.cells[name]
  const start = `${graph}, reaching ${reach} over ${depth} hops`
  return [
    ...(best
      ? [
          {
            row: 1,
            name: `${start}: best SQL with degrees / in process`,
            value: best.ratio,
            unit: 'x' as const,
            goal: { atLeast: 50 },
            context: best
          }
        ]
      : []),
    ...(deep
      ? [
          {
            row: 1,
            name: `${start}: SQL with a depth column / in process`,
            value: ratioOf(deep),
            unit: 'x' as const,
            goal: { atLeast: 300 },
            context: deep
          }
        ]
      : [])
  ]
}

export function marquezFindings(rows: readonly MarquezRow[], limitMs: number): Finding[] {
  return rows
    .filter(({ depth }) => depth === 5)
    .flatMap((row): Finding[] => [
      {
        row: 1,
        name: `Marquez, depth 5 (${row.jobs} jobs) / the same jobs in process`,
        value: (row.marquezMs ?? limitMs) / row.sameAnswerMs,
        unit: 'x',
        goal: { atLeast: 1_000 },
        context: row
      },
      {
        row: 1,
        name: `Marquez, depth 5 / up and down the lineage in process (${row.bothWalksReach} reached)`,
        value: (row.marquezMs ?? limitMs) / row.bothWalksMs,
        unit: 'x',
        goal: { atLeast: 1_000 },
        context: {}
      }
    ])
}

export function fanFindings({
  fans,
  empty
}: {
  fans: readonly FanRow[]
  empty: readonly EmptyRow[]
}): Finding[] {
  return [
    ...fans.map((fan): Finding => ({
      row: 7,
      name: `${fan.total} ${fan.direction.toLowerCase()} of one asset: first page`,
      value: fan.firstPageMs,
      unit: 'ms',
      goal: { atMost: 100 },
      context: fan
    })),
    ...empty.map((row): Finding => ({
      row: 8,
      name: `a start that ${row.start}`,
      value: row.medianMs,
      unit: 'ms',
      goal: { atMost: 5 },
      context: row
    }))
  ]
}

export const changesFindings = (graph: string, changes: ChangesFinding): Finding[] => [
  {
    row: 4,
    name: `${graph}: the read after ${changes.changes} edge changes`,
    value: changes.readMs,
    unit: 'ms',
    goal: { atMost: 10 },
    context: changes
  }
]

export const loadFindings = (graph: string, load: LoadFinding): Finding[] => [
  {
    row: 4,
    name: `${graph}: fresh process to its first correct answer`,
    value: load.firstAnswerMs / 1_000,
    unit: 's',
    goal: { atMost: 10 },
    context: load
  },
  {
    row: 4,
    name: `${graph}: resident memory of that process`,
    value: load.rssMb,
    unit: 'MB',
    goal: { atMost: 350 },
    context: {}
  }
]
