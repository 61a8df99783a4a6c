/** The answer of a contender, and its check: a sum to which every node and its degree contribute. */
import type { Reach } from './adjacency.ts'
import { entityIdOf } from './graphs.ts'

/**
 * The number of reached nodes, and the sum over them. For contenders without degrees, every degree counts as
 * 0.
 */
export type Answer = { count: number; checksum: number }

/**
 * The same sum in Postgres, over columns `id` and `degree`. Two different answers have the same sum with a
 * probability of one in two thousand million.
 */
export const checksumSql =
  'coalesce(sum((id::bigint * 2048 + degree) * (id::bigint * 2048 + degree) % 2147483629), 0)::bigint'

const modulus = 2_147_483_629n

export function answerOf(ids: ArrayLike<number>, degreeAt: (index: number) => number): Answer {
  let checksum = 0n
  for (let index = 0; index < ids.length; index += 1) {
    const mixed = BigInt((ids[index] ?? 0) * 2048 + degreeAt(index))
    checksum += (mixed * mixed) % modulus
  }
  return { count: ids.length, checksum: Number(checksum) }
}

/** The correct answer, by the benchmark's own walk. */
export const rightAnswer = ({ nodes, degrees }: Reach, withDegrees: boolean): Answer =>
  answerOf(nodes.map(entityIdOf), (index) => (withDegrees ? (degrees[index] ?? 0) : 0))
