/**
 * Makes URNs of known kinds, and reads what a URN contains: parent, flow, platform, environment, name, key.
 */
import { CatalogError } from '../errors.ts'
import { fabricTypes, kindShapeOf } from './kind-shapes.ts'
import { entityTypeOf, firstUrnOf, parseUrn, splitUrn, toUrn } from './urn.ts'
import type { Urn } from './urn.ts'

const platformPrefix = 'urn:li:dataPlatform:'
/** Types whose URNs begin with the name of a platform, not with its URN. */
const toolTypes: ReadonlySet<string> = new Set(['dataFlow', 'chart', 'dashboard', 'notebook'])

/**
 * Returns the URN if it has this entity type; `field` names the input in errors. Throws as parseUrn does, and
 * INVALID_URN for another type.
 */
export const urnOfType = (text: unknown, entityType: string, field: string): Urn => {
  const { urn, entityType: found } = parseUrn(text, field, entityType)
  if (found !== entityType)
    throw new CatalogError(
      'INVALID_URN',
      `${field} must be the URN of a ${entityType}, not of a ${found}: ${urn}`,
      { field, urn }
    )
  return urn
}

/**
 * `platform` is a name or the URN of a platform. Throws INVALID_URN, LIMIT_EXCEEDED and INVALID_CHARACTER, as
 * all makers here do.
 */
export const datasetUrn = (platform: string, name: string, environment = 'PROD', field?: string): Urn =>
  toUrn(
    `urn:li:dataset:(${platform.startsWith(platformPrefix) ? platform : platformPrefix + platform},${name},${environment})`,
    field
  )

/** The URN of a column. The path is kept as it is, so its parentheses must be balanced. */
export const schemaFieldUrn = (parentUrn: Urn, fieldPath: string, field?: string): Urn =>
  toUrn(`urn:li:schemaField:(${parentUrn},${fieldPath})`, field)

export const domainUrn = (id: string, field?: string): Urn => toUrn(`urn:li:domain:${id}`, field)

/** The asset of a column, and the column's path. Throws INVALID_URN for any other kind of URN. */
export const schemaFieldParts = (urn: Urn): { parentUrn: Urn; fieldPath: string } => {
  checkKind(urn, 'schemaField')
  const parentUrn = firstUrnOf(urn)
  return { parentUrn, fieldPath: urn.slice('urn:li:schemaField:('.length + parentUrn.length + 1, -1) }
}

/**
 * The data flow of a data job, which is part of the job's URN. Throws INVALID_URN for any other kind of URN.
 */
export const dataFlowOf = (jobUrn: Urn): Urn => {
  checkKind(jobUrn, 'dataJob')
  return firstUrnOf(jobUrn)
}

const checkKind = (urn: Urn, entityType: string): void => {
  if (entityTypeOf(urn) !== entityType)
    throw new CatalogError('INVALID_URN', `Invalid urn: a URN of ${entityType} is needed: ${urn}`, { urn })
}

/**
 * The URN of the platform (or tool, or orchestrator) that the URN names; null if it names none, or one that
 * cannot be in a URN.
 */
export const platformOf = (urn: Urn): Urn | null => {
  const { entityType, parts } = splitUrn(urn)
  const first = parts[0] ?? ''
  if (entityType === 'dataPlatform') return urn
  if (entityType === 'schemaField' || entityType === 'dataJob') return platformOf(firstUrnOf(urn))
  if (toolTypes.has(entityType)) {
    // A part may begin or end with a space; a URN may not.
    return first.trim() === first ? toUrn(platformPrefix + first) : null
  }
  return kindShapeOf(entityType)?.firstIs === 'dataPlatform' ? firstUrnOf(urn) : null
}

/** The environment that the URN names (PROD, DEV…); null if it names none. */
export const originOf = (urn: Urn): string | null => {
  const { entityType, parts } = splitUrn(urn)
  if (entityType === 'schemaField') return originOf(firstUrnOf(urn))
  return kindShapeOf(entityType)?.keyFields[2] === 'origin' ? (parts[2] ?? null) : null
}

/**
 * The environment of an entity according to its URN: of an asset the environment that it names, of a flow and
 * its jobs the cluster, if that is the name of an environment in any case. Null if the URN tells none.
 */
export const environmentOf = (urn: Urn): string | null => {
  const { entityType, parts } = splitUrn(urn)
  if (entityType === 'dataJob' || entityType === 'schemaField') return environmentOf(firstUrnOf(urn))
  if (entityType !== 'dataFlow') return originOf(urn)
  const cluster = (parts[2] ?? '').toUpperCase()
  return fabricTypes.find((environment) => environment === cluster) ?? null
}

/** Whether URNs of the type name a platform. */
export const namesPlatform = (entityType: string): boolean =>
  entityType === 'schemaField' ||
  entityType === 'dataJob' ||
  entityType === 'dataPlatform' ||
  toolTypes.has(entityType) ||
  kindShapeOf(entityType)?.firstIs === 'dataPlatform'

/**
 * A display name for an entity without properties: the part of the URN that its owners chose, with %2C, %28
 * and %29 decoded.
 */
export const nameFromUrn = (urn: Urn): string => {
  const { entityType, parts } = splitUrn(urn)
  // A metric and a semantic model have the folder of their name before it.
  const at = kindShapeOf(entityType)?.keyFields[2] === 'id' ? 2 : 1
  const name = parts[at] ?? parts[0] ?? urn
  return name.replaceAll('%2C', ',').replaceAll('%28', '(').replaceAll('%29', ')')
}

/** The inverse of keyOfUrn. Throws BAD_REQUEST if the key lacks a field, and what toUrn throws. */
export const urnFromKey = (entityType: string, key: { readonly [name: string]: unknown }): Urn => {
  const names = kindShapeOf(entityType)?.keyFields ?? ['id']
  const parts = names.map((name) => {
    const part = Object.hasOwn(key, name) ? key[name] : undefined
    if (typeof part !== 'string' || part === '')
      throw new CatalogError(
        'BAD_REQUEST',
        `The key of a ${entityType} needs ${names.join(', ')}; ${name} is missing`,
        { field: `entityKeyAspect.${name}` }
      )
    return part
  })
  return toUrn(
    parts.length === 1 ? `urn:li:${entityType}:${parts[0]}` : `urn:li:${entityType}:(${parts.join(',')})`,
    'entityKeyAspect'
  )
}

/**
 * The value of the entity's key aspect: the parts of the URN, under the names that its kind gives to them.
 */
export const keyOfUrn = (urn: Urn): { [name: string]: string } => {
  const { entityType, parts } = splitUrn(urn)
  const names = kindShapeOf(entityType)?.keyFields
  if (!names) return { id: urn.slice(`urn:li:${entityTypeOf(urn)}:`.length) }
  return Object.fromEntries(names.map((name, index) => [name, parts[index] ?? '']))
}
