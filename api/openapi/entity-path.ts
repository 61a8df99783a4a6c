/**
 * Parses the path after `/openapi/v3/entity/{entityName}/`: a URN, percent-encoded or raw with its slashes,
 * and perhaps an aspect. `generic` means any entity type.
 */
import { CatalogError } from '../../shared/errors.ts'
import { isKnownAspect, knownAspectName } from '../../shared/model/aspect-registry.ts'
import { entityTypes } from '../../shared/model/entity-types.ts'
import { entityTypeOf, toUrn, type Urn } from '../../shared/urn/urn.ts'
import { storableText } from '../datahub/restli-input.ts'

export type EntityPath = { urn: Urn; aspectName: string | null }

const namesInLowerCase = new Map(entityTypes.map(({ name }) => [name.toLowerCase(), name]))

/** The entity type as in URNs; clients may write it in any case. Throws BAD_REQUEST. */
export function entityNameOf(sent: string): string {
  const name = namesInLowerCase.get(sent.toLowerCase()) ?? sent
  if (!/^[A-Za-z]\w{0,99}$/.test(name))
    throw new CatalogError('BAD_REQUEST', `Unknown entity type ${sent.slice(0, 100).toWellFormed()}`, {
      field: 'entityName'
    })
  return name
}

/**
 * The name of an aspect, which clients may write in any case. `field` is its name in errors. Throws
 * INVALID_CHARACTER, LIMIT_EXCEEDED.
 */
export const aspectNameOf = (sent: string, field: string): string =>
  knownAspectName(storableText(sent, field))

/** Instead of an entity type: the URN decides. */
const anyType = 'generic'

/**
 * `rawPath` is the path as it was sent, not decoded. Throws BAD_REQUEST, INVALID_CHARACTER, and INVALID_URN
 * if there is no URN or its type is another one.
 */
export function parseEntityPath(rawPath: string, entityName: string): EntityPath {
  const { urnText, aspectText } = split(rawPath)
  const urn = toUrn(urnText, 'urn', entityName)
  if (entityName !== anyType && entityTypeOf(urn) !== entityName)
    throw new CatalogError(
      'INVALID_URN',
      `The URN has the type ${entityTypeOf(urn)}, but the path says ${entityName}`,
      { field: 'urn', urn }
    )
  return { urn, aspectName: aspectText === null ? null : aspectNameOf(aspectText, 'aspect') }
}

/**
 * An encoded URN has no slash, so a slash ends it. A raw URN ends at its closing parenthesis; without one,
 * the last segment is an aspect if it is the name of one.
 */
function split(rawPath: string): { urnText: string; aspectText: string | null } {
  const rawSlash = rawPath.indexOf('/')
  const first = rawSlash < 0 ? rawPath : rawPath.slice(0, rawSlash)
  const rest = rawSlash < 0 ? null : decode(rawPath.slice(rawSlash + 1))
  if (/^urn%3a/i.test(first)) return { urnText: decode(first), aspectText: rest }
  const text = decode(rawPath)
  const slash = text.lastIndexOf('/')
  if (slash < 0) return { urnText: text, aspectText: null }
  const [before, after] = [text.slice(0, slash), text.slice(slash + 1)]
  const isTuple = /^urn:li:\w+:\(/.test(text)
  return (isTuple ? before.endsWith(')') : isKnownAspect(after))
    ? { urnText: before, aspectText: after }
    : { urnText: text, aspectText: null }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new CatalogError(
      'BAD_REQUEST',
      'The path is not percent-encoded UTF-8',
      { field: 'urn' },
      { cause }
    )
  }
}
