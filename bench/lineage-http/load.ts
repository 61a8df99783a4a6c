/** Row 4: loading L into a new process, its memory, and how soon a read sees a thousand changes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFrom } from '../../test/torture/workload.ts'
import { startApi } from './api-process.ts'
import { asker, type Ask } from './ask.ts'
import { changeEdges, checkTwoHops, newEdge, type Edge } from './churn.ts'
import { median, rounded, type Finding } from './findings.ts'
import { untilInMemory, type Catalog } from './stage.ts'

const startCount = 3
const changeRounds = 6
const changesPerRound = 1_000
const settleMs = 3_000

type Started = {
  fromStartS: number
  fromListenS: number
  residentMb: number
  settledMb: number
  mostMb: number
}

export async function benchLoad(catalog: Catalog): Promise<Finding[]> {
  const starts: Started[] = []
  const visible: number[] = []
  const idle: number[] = []
  for (let count = 0; count < startCount; count += 1) {
    const api = await startApi(catalog)
    try {
      const ask = asker(api)
      const answeredAtMs = await untilInMemory(catalog, ask)
      const residentMb = api.memoryMb('VmRSS')
      await sleep(settleMs)
      starts.push({
        fromStartS: rounded((answeredAtMs - api.startedAtMs) / 1_000),
        fromListenS: rounded((answeredAtMs - api.listeningAtMs) / 1_000),
        residentMb: rounded(residentMb),
        settledMb: rounded(api.memoryMb('VmRSS')),
        mostMb: rounded(api.memoryMb('VmHWM'))
      })
      if (count === startCount - 1) await timeChanges(catalog, ask, visible, idle)
    } finally {
      await api.stop()
    }
  }
  return [
    {
      row: 4,
      name: 'from the start of the process to the first correct answer from memory (L)',
      value: median(starts.map((start) => start.fromStartS)),
      unit: 's',
      goal: { atMost: 10 },
      context: { starts }
    },
    {
      row: 4,
      name: 'resident memory of the API after it (L)',
      value: Math.max(...starts.map(({ residentMb, settledMb }) => Math.max(residentMb, settledMb))),
      unit: 'MB',
      goal: { atMost: 350 },
      context: { most: starts.map(({ mostMb }) => mostMb) }
    },
    {
      row: 4,
      name: 'the read after 1,000 edge changes, which sees them',
      value: median(visible),
      unit: 'ms',
      goal: { atMost: 10 },
      context: { each: visible.map(rounded), idle: rounded(median(idle)) }
    }
  ]
}

/** Adds and removes shortcut edges, a thousand per call, and at once reads what the last of them changed. */
async function timeChanges(catalog: Catalog, ask: Ask, visible: number[], idle: number[]): Promise<void> {
  const random = randomFrom(41)
  for (let count = 0; count < 50; count += 1)
    idle.push(await checkTwoHops(catalog, ask, Math.floor(random() * catalog.graph.assetCount)))
  for (let round = 0; round < changeRounds; round += 1) {
    const edges = new Map<string, Edge>()
    while (edges.size < changesPerRound) {
      const edge = newEdge(catalog, random)
      edges.set(`${edge.upstream} ${edge.downstream}`, edge)
    }
    const changed = [...edges.values()]
    const last = changed.at(-1)?.downstream ?? 0
    for (const field of ['edgesToAdd', 'edgesToRemove'] as const) {
      await changeEdges(catalog, ask, field, changed)
      visible.push(await checkTwoHops(catalog, ask, last))
      for (const { downstream } of changed.slice(0, 20)) await checkTwoHops(catalog, ask, downstream)
    }
  }
}
