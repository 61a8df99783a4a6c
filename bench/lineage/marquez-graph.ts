/**
 * Jobs with the datasets that they read and write, in ten layers; hundreds of jobs read some datasets. Its
 * size and reach are those of the graph on which the technique of Marquez was first measured: 12,000 jobs,
 * of which 167 are within depth 3 of a start and about 6,800 within depth 5.
 */
import { pick, randomFrom } from '../../test/torture/workload.ts'
import { toUrn } from '../../shared/urn/urn.ts'
import { noEdges, type BenchGraph } from './graphs.ts'

export type JobGraph = BenchGraph & {
  jobCount: number
  /** The datasets that each job reads and writes, as nodes. */
  inputs: number[][]
  outputs: number[][]
}

const jobCount = 12_000
const layerCount = 10
const rawDatasetCount = 1_000
const secondOutputShare = 0.15

/** Nodes: the jobs first, then the datasets. */
export function makeJobGraph(): JobGraph {
  const random = randomFrom(5)
  const inputs: number[][] = []
  const outputs: number[][] = []
  const layers: number[][] = [Array.from({ length: rawDatasetCount }, (_, index) => jobCount + index)]
  let nodeCount = jobCount + rawDatasetCount
  for (let layer = 0; layer < layerCount; layer += 1) {
    const written: number[] = []
    for (let job = 0; job < jobCount / layerCount; job += 1) {
      const read = new Set<number>()
      const wanted = 1 + Math.floor(random() * 3.3)
      while (read.size < wanted) {
        const from = random() < 0.7 ? (layers[layer] ?? []) : pick(random, layers)
        read.add(from[Math.floor(from.length * random() ** 2)] ?? 0)
      }
      const made = random() < secondOutputShare ? [nodeCount, nodeCount + 1] : [nodeCount]
      nodeCount += made.length
      inputs.push([...read])
      outputs.push(made)
      written.push(...made)
    }
    layers.push(written)
  }
  const pairs = [
    ...inputs.flatMap((read, job) => read.map((dataset) => [dataset, job] as const)),
    ...outputs.flatMap((made, job) => made.map((dataset) => [job, dataset] as const))
  ]
  return {
    name: 'jobs',
    jobCount,
    inputs,
    outputs,
    assetCount: nodeCount,
    columnCount: 0,
    columnEdges: noEdges,
    picks: [],
    edges: {
      upstream: Int32Array.from(pairs, ([upstream]) => upstream),
      downstream: Int32Array.from(pairs, ([, downstream]) => downstream)
    },
    typeOf: (node) => (node < jobCount ? 'dataJob' : 'dataset'),
    parentOf: () => null,
    urnOf: (node) =>
      toUrn(
        node < jobCount
          ? `urn:li:dataJob:(urn:li:dataFlow:(airflow,dag_of_ordinary_length_${node % 800},PROD),task_${node})`
          : `urn:li:dataset:(urn:li:dataPlatform:snowflake,warehouse.schema_${node % 40}.a_table_of_ordinary_length_${node},PROD)`
      )
  }
}

/**
 * Jobs that share datasets, hop by hop, as Marquez answers. Returns the nodes of the jobs within this number
 * of hops, without the start.
 */
export function jobsAround(
  { jobCount: count, inputs, outputs, assetCount }: JobGraph,
  start: number,
  depth: number
): Set<number> {
  const jobsOf = Array.from({ length: assetCount - count }, (): number[] => [])
  const datasetsOf = (job: number) => [...(inputs[job] ?? []), ...(outputs[job] ?? [])]
  for (let job = 0; job < count; job += 1)
    for (const dataset of datasetsOf(job)) jobsOf[dataset - count]?.push(job)
  const seen = new Set([start])
  let frontier = [start]
  for (let hop = 0; hop < depth; hop += 1) {
    frontier = [
      ...new Set(frontier.flatMap(datasetsOf).flatMap((dataset) => jobsOf[dataset - count] ?? []))
    ].filter((job) => !seen.has(job))
    for (const job of frontier) seen.add(job)
  }
  seen.delete(start)
  return seen
}
