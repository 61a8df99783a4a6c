/** The scalar Long: whole numbers that JSON carries exactly. */
import { GraphQLError, Kind, type ValueNode } from 'graphql'

function toLong(value: unknown): number {
  const number = typeof value === 'bigint' ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw new GraphQLError(`Long must be a whole number up to 2^53: ${String(value)}`)
}

export const longScalar = {
  serialize: toLong,
  parseValue: toLong,
  parseLiteral(node: ValueNode): number {
    if (node.kind === Kind.INT) return toLong(Number(node.value))
    throw new GraphQLError('Long must be a whole number')
  }
}
