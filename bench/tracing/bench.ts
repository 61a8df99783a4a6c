/**
 * `npm run bench -- tracing [CHECKOUT]`: what traces cost, off and on, for single edges and for a bulk load.
 *
 * Three catalogs side by side, each with its own Postgres and Redis: with traces, without, and, if the folder of
 * another built checkout is given, of that one, such as the commit before. They take turns, so what else the
 * machine does meets all of them. Processor time is that of API and worker.
 */
import { join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { keepRunning } from '../../test/torture/processes.ts'
import { asker } from '../lineage-http/ask.ts'
import { untilLive } from '../lineage-http/api-process.ts'
import { median, rounded, tableOf, type Finding } from '../lineage-http/findings.ts'
import { assetCount, assetLines, assetUrn, drawEdges, edgeLines } from '../loading/edges.ts'
import { openStage, sendFile, writeLines, type Stage } from '../loading/stage.ts'

const updateRounds = 80
const updatesPerRound = 100
const loadRounds = 30
const edgesPerLoad = 50_000
const warmUpRounds = 6

const updateLineage = 'mutation update($input: UpdateLineageInput!) { updateLineage(input: $input) }'

type Variant = 'before' | 'off' | 'on'
/** The milliseconds of each operation, and the processor time of API and worker for all of them. */
type Taken = { ms: number[]; cpuSeconds: number }
type TakenBy = ReadonlyMap<Variant, Taken>
type Stages = readonly (readonly [Variant, Stage])[]

export async function benchTracing([checkout]: readonly string[]): Promise<object> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const stages: [Variant, Stage][] = []
  try {
    stages.push(['off', await openStage()])
    const { folder } = stages[0]?.[1] ?? {}
    const file = packagePath('dist/bench/tracing/receiver.js')
    const receiver = keepRunning('receiver', [String(port)], {}, folder ?? '', file)
    try {
      await untilLive(url)
      stages.push(['on', await openStage({ OTEL_EXPORTER_OTLP_ENDPOINT: url })])
      if (checkout !== undefined)
        stages.push(['before', await openStage({}, 1, join(checkout, 'dist/bin/tributary.js'))])
      for (const [, stage] of stages)
        await sendFile(stage, await writeLines(stage, 'assets.ndjson', assetLines()), { source: 'bench' })
      const updates = await takeTurns(stages, updateRounds, updateRound)
      const loads = await takeTurns(stages, loadRounds, loadRound)
      const findings = [
        ...findingsOf('single edges by updateLineage, one after the other', updates),
        ...findingsOf(`a load of ${edgesPerLoad} new edges`, loads)
      ]
      for (const line of tableOf(findings)) console.log(line)
      const received: unknown = await (await fetch(url)).json()
      console.log('received by the receiver:', JSON.stringify(received))
      return { at: new Date().toISOString(), updatesPerRound, edgesPerLoad, findings, received }
    } finally {
      await receiver.stop()
    }
  } finally {
    for (const [, stage] of stages) await stage.stop()
  }
}

/** Who comes first changes with each round. The first rounds, in which code becomes fast, do not count. */
async function takeTurns(
  stages: Stages,
  count: number,
  run: (stage: Stage, round: number) => Promise<number[]>
): Promise<TakenBy> {
  const takenBy = new Map(stages.map(([variant]): [Variant, Taken] => [variant, { ms: [], cpuSeconds: 0 }]))
  for (let round = 0; round < warmUpRounds + count; round += 1) {
    const first = round % stages.length
    for (const [variant, stage] of [...stages.slice(first), ...stages.slice(0, first)]) {
      const cpuBefore = cpuOf(stage)
      const ms = await run(stage, round)
      const taken = takenBy.get(variant)
      if (round < warmUpRounds || taken === undefined) continue
      taken.ms.push(...ms)
      taken.cpuSeconds += cpuOf(stage) - cpuBefore
    }
  }
  return takenBy
}

function cpuOf(stage: Stage): number {
  const { api, worker } = stage.cpu()
  return api + worker
}

async function updateRound({ api }: Stage, round: number): Promise<number[]> {
  const ask = asker(api)
  const { upstream } = drawEdges(updatesPerRound, 100 + round)
  const ms: number[] = []
  for (const [index, asset] of upstream.entries()) {
    const downstreamUrn = assetUrn((round * updatesPerRound + index) % assetCount)
    const input = { edgesToAdd: [{ upstreamUrn: assetUrn(asset), downstreamUrn }] }
    ms.push((await ask(updateLineage, { input })).ms)
  }
  return ms
}

async function loadRound(stage: Stage, round: number): Promise<number[]> {
  const file = await writeLines(stage, 'edges.ndjson', edgeLines(drawEdges(edgesPerLoad, 1_000 + round)))
  return [(await sendFile(stage, file, { source: `round ${round}` })).doneS * 1_000]
}

/** The medians, which a pause of the machine does not move. */
function findingsOf(what: string, takenBy: TakenBy): Finding[] {
  const compare = (name: string, [variant, other]: [Variant, Variant], atMost: number): Finding[] => {
    const [taken, base] = [takenBy.get(variant), takenBy.get(other)]
    if (taken === undefined || base === undefined) return []
    return [
      {
        row: 1,
        name: `${what}: ${name}`,
        value: median(taken.ms) / median(base.ms),
        unit: 'x',
        goal: { atMost },
        context: {
          [`median ${variant} (ms)`]: rounded(median(taken.ms)),
          [`median ${other} (ms)`]: rounded(median(base.ms)),
          processorTime: rounded(taken.cpuSeconds / base.cpuSeconds),
          operations: taken.ms.length
        }
      }
    ]
  }
  return [
    ...compare('off against the commit before', ['off', 'before'], 1.05),
    ...compare('on against off', ['on', 'off'], 1.15)
  ]
}
