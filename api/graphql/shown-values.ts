/**
 * Shows null where a stored value is not in the enum of its field.
 *
 * Aspects keep what was sent, also values of a later version of DataHub's model. Without this, one of them
 * would be an error, and some clients discard a whole answer that contains an error.
 */
import {
  defaultFieldResolver,
  isEnumType,
  isObjectType,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLSchema
} from 'graphql'

/** Wraps every field whose type is an enum. A field that is never null, such as `type`, has its own fallback. */
export function showListedValues(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields()))
      if (isEnumType(field.type)) showListed(field, field.type)
  }
}

function showListed(field: GraphQLField<unknown, unknown>, type: GraphQLEnumType): void {
  const resolve = field.resolve ?? defaultFieldResolver
  const listed = (value: unknown): unknown =>
    typeof value === 'string' && type.getValue(value) === undefined ? null : value
  field.resolve = (source, args, context, info) => {
    const found: unknown = resolve(source, args, context, info)
    return found instanceof Promise ? found.then(listed) : listed(found)
  }
}
