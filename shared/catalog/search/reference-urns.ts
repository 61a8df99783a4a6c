/**
 * Replaces short references in the input of a write by URNs: names of assets and domains.
 *
 * A reference is resolved when it is sent. Only URNs are stored and applied, so a chunk that is applied late
 * or twice has the same meaning.
 */
import { CatalogError } from '../../errors.ts'
import { isObject } from '../../model/json-values.ts'
import { readDatasetName, urnOfDatasetName } from '../../urn/dataset-name.ts'
import { exampleUrn } from '../../urn/example-urns.ts'
import { knownPlatform } from '../../urn/platforms.ts'
import { resolveReference, type ReferenceOptions } from './resolve-reference.ts'
import type { LineageSources } from '../lineage/with-lineage.ts'

/** Fields that contain a URN; with its entity type, if only one is possible. */
export type UrnFields = { readonly [field: string]: { readonly entityType?: string } }

/** True for a text that does not begin as a URN; a malformed URN is refused as one. */
export const isReference = (text: unknown): text is string =>
  typeof text === 'string' && text.trim() !== '' && !text.startsWith('urn:')

/** Why a reference means no entity, or several. */
export type Unresolved = Pick<CatalogError, 'code' | 'message' | 'details'>

/**
 * Throws INVALID_URN with `candidates` if the reference means no entity or several, and what reading throws.
 */
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
    throw refusalOf(error, { reference, ...options })
  }
}

/**
 * The error for a field whose reference means no entity or several. It shows the URN that the reference would
 * have if it is the whole name of a dataset; `wayOut` is what the client may do besides.
 */
export function refusalOf(
  { code, message, details }: Unresolved,
  {
    field,
    reference,
    entityType,
    wayOut
  }: { field: string; reference: string; entityType?: string; wayOut?: string }
): CatalogError {
  const isUnknown = code === 'NOT_FOUND'
  const own = isUnknown && entityType === undefined ? urnOfWholeName(reference) : null
  return new CatalogError(
    isUnknown || code === 'BAD_REQUEST' ? 'INVALID_URN' : code,
    `${field} must be a URN such as ${own ?? exampleUrn(field, entityType)}, or the name of an entity: ${message}${isUnknown && wayOut !== undefined ? `. ${wayOut}` : ''}`,
    { ...details, field }
  )
}

/** Null for a text that is not the whole name of a dataset on a known platform. */
function urnOfWholeName(reference: string): string | null {
  try {
    const name = readDatasetName(reference, 'reference')
    const platform = knownPlatform(name.platform)
    return platform === null ? null : urnOfDatasetName(name, platform, 'reference')
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}

/**
 * A copy of the input in which references in `fields` are URNs, at any depth. Throws as urnOfReference does.
 */
export async function withUrns<Input>(
  sources: LineageSources,
  input: Input,
  fields: UrnFields,
  place = ''
): Promise<Input> {
  const found = await withUrnsIn(sources, input, fields, place)
  // Only texts that are references have been replaced, so the type is the same.
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
