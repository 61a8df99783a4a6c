/**
 * Generates the lineage edges of an invented company: many projects of a few dozen to a few hundred assets,
 * with twelve layers each, joined into regions; hubs that a tenth of all assets read; and a few edges that
 * lead back. The same shape gives the same edges on every machine. No edge occurs twice.
 */
import { pick, randomFrom, type Random } from '../../test/torture/workload.ts'
import {
  drawProjects,
  earlyMember,
  layerBegin,
  layerCount,
  layerOf,
  memberOf,
  projectsOf,
  type Project
} from './projects.ts'

export type EdgeList = { upstream: Int32Array; downstream: Int32Array }

/**
 * `hubOutCount` is the out-degree of the largest hub; each further hub has half of the previous one, but at
 * least a hundred.
 */
export type GraphShape = { assetCount: number; edgeCount: number; hubOutCount: number; seed: number }

const backEdgeShare = 0.0005
const feedingShare = 0.3
const feedsPerProject = 10
const feedDistanceMax = 50
/** Every fifth hub has its edges reversed: it is a report over everything. */
const fanInShare = 0.2
/** The share of edges from the layer just before; the others come from any earlier layer. */
const adjacentShare = 0.7

/**
 * Node numbers are shuffled, so that neighbours are far apart in memory. `hub` is the node with the most
 * downstreams.
 */
export function drawProjectGraph(shape: GraphShape): EdgeList & { hub: number; projectOf: Int32Array } {
  const random = randomFrom(shape.seed)
  const projects = drawProjects(shape.assetCount, random)
  const pairs: number[] = []
  const seen = new Set<number>()
  const addOnce = (upstream: number, downstream: number) => {
    const key = upstream * shape.assetCount + downstream
    if (upstream === downstream || seen.has(key)) return
    seen.add(key)
    pairs.push(upstream, downstream)
  }
  const hub = drawHubs(shape, projects, random, addOnce)
  drawFeeds(projects, random, addOnce)
  for (let count = Math.round(shape.edgeCount * backEdgeShare); count > 0; count -= 1) {
    const project = pick(random, projects)
    addOnce(
      memberOf(project, 6 + Math.floor(random() * 6), random),
      memberOf(project, 1 + Math.floor(random() * 4), random)
    )
  }
  const isTaken = (upstream: number, downstream: number) => seen.has(upstream * shape.assetCount + downstream)
  drawWithinProjects(shape.edgeCount - pairs.length / 2, {
    assetCount: shape.assetCount,
    projects,
    random,
    pairs,
    isTaken
  })
  return shuffled(pairs, projects, hub, shape.assetCount, random)
}

function drawHubs(
  { assetCount, hubOutCount }: GraphShape,
  projects: readonly Project[],
  random: Random,
  add: (upstream: number, downstream: number) => void
): number {
  const projectOf = projectsOf(projects, assetCount)
  let greatest = -1
  for (let count = hubOutCount; count >= 100; count = Math.floor(count / 2)) {
    const hub = memberOf(pick(random, projects), 0, random)
    if (greatest < 0) greatest = hub
    const sink = memberOf(pick(random, projects), layerCount - 1, random)
    for (let made = 0; made < count; made += 1) {
      add(hub, earlyMember(projects, projectOf[Math.floor(random() * assetCount)] ?? 0, random))
      if (made < count * fanInShare) add(Math.floor(random() * assetCount), sink)
    }
  }
  return greatest
}

function drawFeeds(
  projects: readonly Project[],
  random: Random,
  add: (upstream: number, downstream: number) => void
): void {
  projects.forEach((project, index) => {
    if (random() > feedingShare) return
    for (let made = 0; made < feedsPerProject; made += 1) {
      const fed = projects[index + 1 + Math.floor(random() * feedDistanceMax)]
      if (fed?.region === project.region)
        add(
          memberOf(project, 3 + Math.floor(random() * 9), random),
          memberOf(fed, Math.floor(random() * 4), random)
        )
    }
  })
}

type Drawing = {
  assetCount: number
  projects: readonly Project[]
  random: Random
  pairs: number[]
  isTaken: (upstream: number, downstream: number) => boolean
}

/** First chooses the number of upstreams of each asset (at least one below the first layer), then which. */
function drawWithinProjects(
  edgeCount: number,
  { assetCount, projects, random, pairs, isTaken }: Drawing
): void {
  const projectOf = projectsOf(projects, assetCount)
  const counts = new Uint16Array(assetCount)
  const room = new Uint16Array(assetCount)
  let left = edgeCount
  for (const project of projects) {
    for (let asset = layerBegin(project, 1); asset < project.begin + project.size; asset += 1) {
      counts[asset] = 1
      room[asset] = Math.ceil((layerBegin(project, layerOf(project, asset)) - project.begin) / 2)
      left -= 1
    }
  }
  while (left > 0) {
    const asset = Math.floor(random() * assetCount)
    const more = Math.min(left, random() < 0.1 ? 8 : 1, (room[asset] ?? 0) - (counts[asset] ?? 0))
    if (more <= 0) continue
    counts[asset] = (counts[asset] ?? 0) + more
    left -= more
  }
  for (let asset = 0; asset < assetCount; asset += 1) {
    const project = projects[projectOf[asset] ?? 0]
    if (!project) continue
    const layer = layerOf(project, asset)
    const chosen: number[] = []
    while (chosen.length < (counts[asset] ?? 0)) {
      const upstream = memberOf(
        project,
        chosen.length === 0 || random() < adjacentShare ? layer - 1 : Math.floor(random() * layer),
        random
      )
      const free = chosen.includes(upstream)
        ? project.begin + Math.floor(random() * (layerBegin(project, layer) - project.begin))
        : upstream
      if (!chosen.includes(free) && !isTaken(free, asset)) chosen.push(free)
    }
    for (const upstream of chosen) pairs.push(upstream, asset)
  }
}

function shuffled(
  pairs: readonly number[],
  projects: readonly Project[],
  hub: number,
  assetCount: number,
  random: Random
) {
  const numberOf = Int32Array.from({ length: assetCount }, (_, index) => index)
  for (let last = assetCount - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    const kept = numberOf[last] ?? 0
    numberOf[last] = numberOf[other] ?? 0
    numberOf[other] = kept
  }
  const projectOf = new Int32Array(assetCount)
  projectsOf(projects, assetCount).forEach((project, asset) => {
    projectOf[numberOf[asset] ?? 0] = project
  })
  const end = (offset: number) =>
    Int32Array.from({ length: pairs.length / 2 }, (_, edge) => numberOf[pairs[edge * 2 + offset] ?? 0] ?? 0)
  return { upstream: end(0), downstream: end(1), hub: numberOf[hub] ?? 0, projectOf }
}
