/** Reads an OpenAPI 3.1 description: its operations by tag, and its schemas with references followed. */
export type Json = { readonly [name: string]: unknown }

export type Parameter = {
  name: string
  place: string
  type: string
  description: string
  isRequired: boolean
}
export type Content = { mediaType: string; schema: Json | null }
export type Operation = {
  id: string
  method: string
  path: string
  summary: string
  description: string
  parameters: readonly Parameter[]
  body: readonly Content[]
  answers: readonly { status: string; description: string; content: readonly Content[] }[]
}
export type Group = { tag: string; description: string; operations: Operation[] }

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const objectOf = (value: unknown): Json => (isObject(value) ? value : {})
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The target of `#/components/schemas/Name`; any other value is returned unchanged. */
export function followed(description: Json, value: unknown): Json {
  let current = objectOf(value)
  // Follows references to references, but ends at cycles.
  for (let step = 0; step < 10; step += 1) {
    const reference = textOf(current.$ref)
    if (!reference.startsWith('#/')) return current
    current = reference
      .slice(2)
      .split('/')
      .reduce<Json>((at, part) => objectOf(at[part.replaceAll('~1', '/').replaceAll('~0', '~')]), description)
  }
  return current
}

/** A schema in a few words: `string`, `array of Load`, `one of 3`. */
export function typeText(schema: unknown): string {
  const name = textOf(objectOf(schema).$ref).split('/').at(-1)
  if (name) return name
  const { type, items, enum: values, oneOf, anyOf, const: only } = objectOf(schema)
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  const choices = listOf(oneOf ?? anyOf)
  if (choices.length > 0) return choices.map((choice) => typeText(choice)).join(' | ')
  if (type === 'array') return `array of ${typeText(items) || 'anything'}`
  return Array.isArray(type) ? type.join(' | ') : textOf(type)
}

const contentsOf = (value: unknown): Content[] =>
  Object.entries(objectOf(value)).map(([mediaType, content]) => ({
    mediaType,
    schema: isObject(objectOf(content).schema) ? (objectOf(content).schema as Json) : null
  }))

function operationOf(description: Json, path: string, method: string, item: Json): Operation {
  const operation = objectOf(item[method])
  return {
    id: `${method}-${path}`.replaceAll(/[^a-z0-9]+/gi, '-'),
    method: method.toUpperCase(),
    path,
    summary: textOf(operation.summary),
    description: textOf(operation.description),
    parameters: [...listOf(item.parameters), ...listOf(operation.parameters)].map((given) => {
      const parameter = followed(description, given)
      return {
        name: textOf(parameter.name),
        place: textOf(parameter.in),
        type: typeText(parameter.schema),
        description: textOf(parameter.description) || textOf(objectOf(parameter.schema).description),
        isRequired: parameter.required === true
      }
    }),
    body: contentsOf(followed(description, operation.requestBody).content),
    answers: Object.entries(objectOf(operation.responses)).map(([status, given]) => {
      const answer = followed(description, given)
      return { status, description: textOf(answer.description), content: contentsOf(answer.content) }
    })
  }
}

/** The operations, grouped by the first tag of each, in the order of the description's own tags. */
export function groupsOf(description: Json, noTag: string): Group[] {
  const groups = new Map<string, Group>(
    listOf(description.tags).map((tag) => [
      textOf(tag.name),
      { tag: textOf(tag.name), description: textOf(tag.description), operations: [] }
    ])
  )
  for (const [path, given] of Object.entries(objectOf(description.paths))) {
    const item = objectOf(given)
    for (const method of methods.filter((each) => isObject(item[each]))) {
      const { tags } = objectOf(item[method])
      const tag = (Array.isArray(tags) ? textOf(tags[0]) : '') || noTag
      const group = groups.get(tag) ?? { tag, description: '', operations: [] }
      groups.set(tag, group)
      group.operations.push(operationOf(description, path, method, item))
    }
  }
  return [...groups.values()].filter(({ operations }) => operations.length > 0)
}

/** All words must occur in the method, the path or the description. */
export function filterGroups(groups: readonly Group[], text: string): Group[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return groups
    .map((group) => ({
      ...group,
      operations: group.operations.filter(({ method, path, summary, description }) => {
        const all = `${method} ${path} ${summary} ${description}`.toLowerCase()
        return words.every((word) => all.includes(word))
      })
    }))
    .filter(({ operations }) => operations.length > 0)
}

/** The fields of an object schema, including those of `allOf`. */
export function fieldsOf(
  description: Json,
  schema: unknown
): { name: string; schema: Json; isRequired: boolean }[] {
  const found = followed(description, schema)
  const required = Array.isArray(found.required) ? (found.required as unknown[]) : []
  return [
    ...listOf(found.allOf).flatMap((part) => fieldsOf(description, part)),
    ...Object.entries(objectOf(found.properties)).map(([name, field]) => ({
      name,
      schema: objectOf(field),
      isRequired: required.includes(name)
    }))
  ]
}

/** The schema of an array's items, otherwise the schema itself. */
export function elementOf(description: Json, schema: unknown): Json {
  const found = followed(description, schema)
  return found.type === 'array' ? elementOf(description, found.items) : found
}
