/** The types in which routes are described for the REST reference, and short functions for their parts. */

/** JSON Schema 2020-12; `$ref: 'Load#'` names one of shapes.ts. */
export type Schema = { readonly [keyword: string]: unknown }

export const tags = {
  loads: 'Bulk loads: submit, follow, retry, cancel, undo.',
  catalog: 'Lineage, domains and names.',
  graphql: 'Questions and small changes. The schema describes every field; introspection is on.',
  session: 'Signing a browser in and out.',
  service: 'The service itself.',
  openlineage: 'Events of OpenLineage.',
  marquez: 'Reads of Marquez, with its answers.',
  datahub: 'The routes that DataHub’s clients call: change proposals, RestLi, OpenAPI v3.'
} as const

export type Description = {
  tag: keyof typeof tags
  summary: string
  /** Longer text, in CommonMark. */
  more?: string
  /** The path as clients write it, if the route ends in a wildcard: `/aspects/{urn}`. */
  path?: string
  /** The parameters in the path; one without an entry is a plain text. */
  params?: { readonly [name: string]: Schema }
  /** The parameters of the query; `required` in a schema means that it must be given. */
  query?: { readonly [name: string]: Schema }
  required?: readonly string[]
  headers?: { readonly [name: string]: Schema }
  /** One schema for JSON, or one for each media type. */
  body?: Schema
  bodies?: { readonly [mediaType: string]: Schema }
  /** By status. The errors that every route can answer are added. */
  answers: { readonly [status: number]: Answer }
  /** For routes that serve clients of another API: unknown parameters are ignored. */
  ignoresUnknownParameters?: true
}

/** Without `json` and `bodies` the answer has no body. */
export type Answer = {
  is: string
  json?: Schema
  bodies?: { readonly [mediaType: string]: Schema }
  headers?: { readonly [name: string]: Schema }
}

/** `METHOD /path` as it is registered, such as `GET /loads/:id`. */
export type Descriptions = { readonly [route: string]: Description }

export const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  description,
  ...more
})
export const integer = (description: string, more: Schema = {}): Schema => ({
  type: 'integer',
  minimum: 0,
  description,
  ...more
})
export const flag = (description: string): Schema => ({ type: 'boolean', default: false, description })
export const oneOf = (values: readonly string[], description: string, more: Schema = {}): Schema => ({
  type: 'string',
  enum: values,
  description,
  ...more
})
export const listOf = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more })
export const ref = (name: string): Schema => ({ $ref: `${name}#` })
/** All properties are required, unless `optional` names them. */
export const object = (
  properties: { readonly [name: string]: Schema },
  { optional = [], ...more }: { optional?: readonly string[] } & Schema = {}
): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  ...more
})
export const anyObject = (description: string): Schema => ({
  type: 'object',
  additionalProperties: true,
  description
})
