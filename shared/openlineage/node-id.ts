/**
 * Parses Marquez' ids of nodes: `dataset:NAMESPACE:NAME`, `job:NAMESPACE:NAME`,
 * `datasetField:NAMESPACE:NAME:FIELD`, where all parts may contain colons.
 */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'

export type NodeKind = 'dataset' | 'job' | 'datasetField'
export type NodeName = { namespace: string; name: string; field: string | null }

/** Each colon adds a way to read an id; this many are tried. */
const colonsMaxCount = 24

/**
 * All readings, the likeliest first: the reading that keeps a namespace such as `postgres://host:5432` whole,
 * as Marquez does, then the others. Throws BAD_REQUEST, LIMIT_EXCEEDED.
 */
export function readNodeId(
  text: string | undefined,
  kinds: readonly NodeKind[]
): { kind: NodeKind; names: NodeName[] } {
  const field = 'nodeId'
  const form = kinds
    .map((kind) => `${kind}:NAMESPACE:NAME${kind === 'datasetField' ? ':FIELD' : ''}`)
    .join(' or ')
  if (!text) throw new CatalogError('BAD_REQUEST', `nodeId must be given, as ${form}`, { field })
  const maximum = limits.schemaFieldUrnMaxBytes
  if (Buffer.byteLength(text) > maximum)
    throw new CatalogError('LIMIT_EXCEEDED', `nodeId has more than ${maximum} bytes`, {
      field,
      limit: 'schemaFieldUrnMaxBytes',
      maximum
    })
  const kind = kinds.find((each) => text.startsWith(`${each}:`))
  if (!kind) throw new CatalogError('BAD_REQUEST', `nodeId must be ${form}`, { field, allowed: kinds })
  const rest = text.slice(kind.length + 1)
  if (rest.includes('#') && /#[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(rest))
    throw new CatalogError('UNSUPPORTED', 'nodeId names a version; only what is current is kept', { field })
  const colons = [...rest.matchAll(/:/g)].map(({ index }) => index).slice(0, colonsMaxCount)
  const ranked = [
    ...colons.filter((at) => !isInAddress(rest, at)),
    ...colons.filter((at) => isInAddress(rest, at))
  ]
  const names = ranked.flatMap((first): NodeName[] => {
    const [namespace, name] = [rest.slice(0, first), rest.slice(first + 1)]
    if (kind !== 'datasetField') return [{ namespace, name, field: null }]
    return ranked
      .filter((second) => second > first)
      .map((second) => ({
        namespace,
        name: rest.slice(first + 1, second),
        field: rest.slice(second + 1)
      }))
  })
  const whole = names.filter((each) => each.namespace !== '' && each.name !== '' && each.field !== '')
  if (whole.length === 0) throw new CatalogError('BAD_REQUEST', `nodeId must be ${form}`, { field })
  return { kind, names: whole }
}

/** Whether a colon belongs to `scheme://` or a port. */
const isInAddress = (text: string, at: number): boolean => /^:(\/\/|\d+(:|$))/.test(text.slice(at, at + 8))

export const nodeIdOf = (
  kind: NodeKind,
  { namespace, name }: { namespace: string; name: string },
  field = ''
): string => [kind, namespace, name, ...(kind === 'datasetField' ? [field] : [])].join(':')
