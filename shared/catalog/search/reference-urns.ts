/**
 * Puts a URN in the place of each short reference in what a write was sent: an asset by its name, a domain by its name.
 *
 * A reference means what the catalog holds when it is sent; what is stored and applied has URNs alone, so that a chunk that is
 * applied twice, or late, means the same.
 */
import { CatalogError } from '../../errors.ts'
import { isObject } from '../../model/json-values.ts'
import { exampleUrn } from '../../urn/example-urns.ts'
import { resolveReference, type ReferenceOptions } from './resolve-reference.ts'
import type { LineageSources } from '../lineage/with-lineage.ts'

/** Fields that hold a URN, and the entity type that it must be of where only one is possible. */
export type UrnFields = { readonly [field: string]: { readonly entityType?: string } }

/** What is not a URN at all; a URN with a fault is refused as one. */
export const isReference = (text: unknown): text is string =>
  typeof text === 'string' && text.trim() !== '' && !text.startsWith('urn:')

/** Throws INVALID_URN if the reference means no entity or several, with `candidates`, and what reading throws. */
export async function urnOfReference(
  sources: LineageSources,
  reference: string,
  options: ReferenceOptions & { field: string }
): Promise<string> {
  try {
    return (await resolveReference(sources, reference, options)).urn
  } catch (error) {
    if (!(error instanceof CatalogError) || (error.code !== 'NOT_FOUND' && error.code !== 'BAD_REQUEST'))
      throw error
    throw new CatalogError(
      'INVALID_URN',
      `${options.field} must be a URN such as ${exampleUrn(options.field, options.entityType)}, or the name of an entity: ${error.message}`,
      error.details,
      { cause: error }
    )
  }
}

/** The input with URNs in those of `fields` that hold a reference, at any depth. It is not altered. Throws as urnOfReference does. */
export async function withUrns<Input>(
  sources: LineageSources,
  input: Input,
  fields: UrnFields,
  place = ''
): Promise<Input> {
  const found = await withUrnsIn(sources, input, fields, place)
  // References that are texts have been replaced by URNs.
  return found as Input
}

async function withUrnsIn(
  sources: LineageSources,
  value: unknown,
  fields: UrnFields,
  place: string
): Promise<unknown> {
  if (Array.isArray(value)) {
    const entries = []
    for (const [index, entry] of value.entries())
      entries.push(await withUrnsIn(sources, entry, fields, `${place}[${index}]`))
    return entries
  }
  if (!isObject(value)) return value
  const entries: [string, unknown][] = []
  for (const [name, inner] of Object.entries(value)) {
    const field = place === '' ? name : `${place}.${name}`
    const options = fields[name]
    entries.push([
      name,
      options && isReference(inner)
        ? await urnOfReference(sources, inner, { field, ...options })
        : await withUrnsIn(sources, inner, fields, field)
    ])
  }
  return Object.fromEntries(entries)
}
