/** The boxes of a map while they are counted: each has a number, from 1, in the order of its first asset. */
import type { BoxEdges } from '../../graph/box-lineage.ts'
import type { Urn } from '../../urn/urn.ts'
import type { BoxName } from './map-rules.ts'

export type MapBox = { name: BoxName; assetCount: number; platforms: Map<Urn, number> }

/** `boxes` begins with number 1; `edges` has lists by number. `visited` counts the assets of the place. */
export type CountedMap = { boxes: readonly MapBox[]; edges: BoxEdges; visited: number }

export type MapBoxes = {
  boxes: MapBox[]
  numberOf: (name: BoxName) => number
  count: (number: number, platformUrn: Urn | null, assets: number) => void
  total: () => number
}

export function mapBoxes(): MapBoxes {
  const boxes: MapBox[] = []
  const numbers = new Map<BoxName, number>()
  let total = 0
  return {
    boxes,
    numberOf(name) {
      const known = numbers.get(name)
      if (known !== undefined) return known
      const number = boxes.push({ name, assetCount: 0, platforms: new Map() })
      numbers.set(name, number)
      return number
    },
    count(number, platformUrn, assets) {
      const box = boxes[number - 1]
      if (!box) throw new Error(`no box ${number}`)
      total += assets
      box.assetCount += assets
      if (platformUrn !== null) box.platforms.set(platformUrn, (box.platforms.get(platformUrn) ?? 0) + assets)
    },
    total: () => total
  }
}
