/** The scalar Long: whole numbers that JSON represents exactly. */
import { GraphQLError, Kind, type ValueNode } from 'graphql'

function toLong(value: unknown): number {
  const number = typeof value === 'bigint' ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  // Only plain values are shown in the error, because an object may have a field called toString.
  const shown = typeof number === 'number' || typeof number === 'boolean' ? `: ${number}` : ''
  throw new GraphQLError(`Long must be a whole number up to 2^53${shown}`)
}

export const longScalar = {
  serialize: toLong,
  parseValue: toLong,
  parseLiteral(node: ValueNode): number {
    if (node.kind === Kind.INT) return toLong(Number(node.value))
    throw new GraphQLError('Long must be a whole number')
  }
}
