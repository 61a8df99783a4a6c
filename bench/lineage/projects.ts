/**
 * The projects of an invented company: ranges of assets in twelve layers, with data flowing from the first
 * to the last.
 */
import type { Random } from '../../test/torture/workload.ts'

export const layerCount = 12
/**
 * The number of projects that feed each other. A start in the first project of a region reaches most of it,
 * about 50,000 assets.
 */
const regionProjectCount = 500

export type Project = { begin: number; size: number; region: number }

/** Forty to six hundred assets each, most of them with few. */
export function drawProjects(assetCount: number, random: Random): Project[] {
  const projects: Project[] = []
  for (let begin = 0; begin < assetCount;) {
    const wanted = 40 + Math.floor(560 * random() ** 2.5)
    const size = assetCount - begin - wanted < 40 ? assetCount - begin : wanted
    projects.push({ begin, size, region: Math.floor(projects.length / regionProjectCount) })
    begin += size
  }
  return projects
}

/** The first asset of a layer. */
export const layerBegin = ({ begin, size }: Project, layer: number): number =>
  begin + Math.ceil((layer * size) / layerCount)

/** An asset of a layer; the first ones are the popular ones. */
export function memberOf(project: Project, layer: number, random: Random): number {
  const begin = layerBegin(project, layer)
  return begin + Math.floor((layerBegin(project, layer + 1) - begin) * random() ** 2)
}

/** Of the first five layers with equal probability: assets that everybody reads are in early layers. */
export const earlyMember = (projects: readonly Project[], index: number, random: Random): number => {
  const project = projects[index]
  return project ? project.begin + Math.floor((random() * project.size * 5) / layerCount) : 0
}

export const layerOf = ({ begin, size }: Project, asset: number): number =>
  Math.floor(((asset - begin) * layerCount) / size)

/** The index of each asset's project. */
export function projectsOf(projects: readonly Project[], assetCount: number): Int32Array {
  const projectOf = new Int32Array(assetCount)
  projects.forEach(({ begin, size }, index) => projectOf.fill(index, begin, begin + size))
  return projectOf
}
