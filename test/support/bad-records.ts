/** A load of plain edges with a few bad records at places where verdicts could get mixed up. */
import { limits } from '../../shared/limits.ts'
import { randomFrom } from '../torture/workload.ts'
import { dataset, edge, entity } from './load-bench.ts'

export type BadRecord = { line: number; text: string; code: string; field: string | null }

export type SpoiltLoad = {
  /** The assets that the edges need, as a separate load. */
  assets: () => Generator<string>
  lines: () => Generator<string>
  bad: BadRecord[]
  /** The lines on both sides of the boundary between the first two chunks. */
  border: [number, number]
}

const edgesPerAsset = 10
const randomCount = 10

/** Records refused while reading, which are in no chunk, and records refused while they are applied. */
const unreadable: readonly Omit<BadRecord, 'line'>[] = [
  { text: '{"upstreamUrn": "urn:li:dataset:(urn', code: 'BAD_REQUEST', field: null },
  {
    text: JSON.stringify({ upstreamUrn: 'orders', downstreamUrn: dataset(1) }),
    code: 'INVALID_URN',
    field: 'upstreamUrn'
  },
  { text: '{"op": "becomeEdge"}', code: 'BAD_REQUEST', field: 'op' }
]
const unappliable = (number: number): Omit<BadRecord, 'line'> =>
  number % 2 === 0
    ? { text: JSON.stringify(edge(`nowhere_${number}`, 1)), code: 'MISSING_REFERENCE', field: 'upstreamUrn' }
    : {
        text: JSON.stringify(edge(1, `nowhere_${number}`)),
        code: 'MISSING_REFERENCE',
        field: 'downstreamUrn'
      }

/**
 * `count` different edges, with bad ones first, last, on both sides of a chunk boundary, and at random places
 * given by the seed.
 */
export function spoilt(count: number, seed: number): SpoiltLoad {
  const random = randomFrom(seed)
  const assetCount = count / edgesPerAsset
  const bad = new Map<number, BadRecord>()
  const spoil = (line: number, record: Omit<BadRecord, 'line'> | undefined): void => {
    if (record) bad.set(line, { line, ...record })
  }
  // The first line is in no chunk, so the first chunk ends one line later.
  const border: [number, number] = [limits.edgeChunkMaxRecords + 1, limits.edgeChunkMaxRecords + 2]
  for (const [index, line] of [2, ...border, count - 1].entries()) spoil(line, unappliable(index))
  spoil(1, unreadable[0])
  spoil(count, unreadable[1])
  while (bad.size < 6 + randomCount) {
    const line = border[1] + 1 + Math.floor(random() * (count - border[1] - 2))
    if (!bad.has(line))
      spoil(line, random() < 0.5 ? unreadable[bad.size % unreadable.length] : unappliable(bad.size))
  }

  function* lines(): Generator<string> {
    for (let line = 1; line <= count; line += 1) {
      const downstream = Math.floor((line - 1) / edgesPerAsset)
      const text =
        bad.get(line)?.text ??
        JSON.stringify(edge((downstream + 1 + (line % edgesPerAsset)) % assetCount, downstream))
      yield line === count ? text : `${text}\n`
    }
  }

  function* assets(): Generator<string> {
    for (let asset = 0; asset < assetCount; asset += 1) yield `${JSON.stringify(entity(asset))}\n`
  }

  return { assets, lines, border, bad: [...bad.values()].sort((a, b) => a.line - b.line) }
}
