/**
 * What the UI shows of an entity: its name, type, platform, environment and domain, from the answer or, for a
 * placeholder, from the URN.
 */
import { isColumnUrn, shownPath } from './column-urn.ts'
import type { RawCard, RawDomain } from './queries.ts'

/** The types that are counted and listed as assets; domains, people and tags are not among them. */
export const assetTypes = [
  'DATASET',
  'DATA_JOB',
  'DATA_FLOW',
  'CHART',
  'DASHBOARD',
  'CONTAINER',
  'MLMODEL',
  'MLMODEL_GROUP',
  'MLFEATURE',
  'MLFEATURE_TABLE',
  'MLPRIMARY_KEY',
  'NOTEBOOK'
] as const

/** `path`: the names of the domains it is in, the outermost first, and its own; `urns` are theirs. */
export type CardDomain = { urn: string; name: string; path: readonly string[]; urns: readonly string[] }

export type Card = {
  urn: string
  /** An EntityType of the schema: DATASET, DATA_JOB. */
  type: string
  name: string
  /**
   * What tells it from others of its name, with the sign that separates the two: `raw.stripe.`, the folder of a
   * file, the flow of a job, the table of a column. Empty if there is nothing.
   */
  qualifier: string
  /** Its name on its platform if that does not end with `name`; otherwise null. */
  nameThere: string | null
  /** The platform, or the orchestrator of a job; null for types without one. */
  platform: string | null
  environment: string | null
  domain: CardDomain | null
  /** False for a placeholder. */
  exists: boolean
}

/** `urn:li:dataset:(a,b(c,d),e)` has the parts a, b(c,d) and e; a URN without parentheses has one. */
export function partsOfUrn(urn: string): string[] {
  const id = urn.split(':').slice(3).join(':')
  if (!id.startsWith('(') || !id.endsWith(')')) return [id]
  const parts: string[] = []
  let depth = 0
  let from = 1
  for (let at = 1; at < id.length - 1; at += 1) {
    if (id[at] === '(') depth += 1
    else if (id[at] === ')') depth -= 1
    else if (id[at] === ',' && depth === 0) {
      parts.push(id.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, id.slice(from, -1)]
}

/** What only producers can connect to its upstreams, and whose name is the last part of the URN. */
const typesOfProducers = new Set(['metric', 'semanticModel'])

/** The part that people call the name: usually the second of three, otherwise the last. */
function nameInUrn(urn: string): string {
  const parts = partsOfUrn(urn)
  return (parts.length > 2 && !typesOfProducers.has(typeIn(urn)) ? parts[1] : parts.at(-1)) || urn
}

const typeIn = (urn: string): string => urn.split(':')[2] ?? ''

/** `urn:li:tag:pii` is `pii`: the name if only the URN is known. */
export const lastPartOf = (urn: string): string => (urn === '' ? '' : nameInUrn(urn))

/** The platform of a table, a chart or a dashboard: the first part of its URN. */
const platformIn = (urn: string): string | null =>
  (partsOfUrn(urn)[0] ?? '').replace(/^urn:li:dataPlatform:/, '') || null

/** `urn:li:corpuser:ada` is `ada`. */
export const nameOfActor = (urn: string): string => partsOfUrn(urn)[0] || urn

const typesWithLineage = new Set([
  'dataset',
  'dataJob',
  'chart',
  'dashboard',
  'mlModel',
  'mlModelGroup',
  'mlFeature',
  'mlPrimaryKey',
  'dataProcessInstance',
  'schemaField',
  ...typesOfProducers
])

/** Whether entities of the URN's type can have lineage. */
export const hasLineage = (urn: string): boolean => typesWithLineage.has(typeIn(urn))

/** Whether people can edit the lineage of such an entity. The lineage of a column is edited on its asset. */
export const hasEditableLineage = (urn: string): boolean =>
  hasLineage(urn) && !typesOfProducers.has(typeIn(urn)) && !isColumnUrn(urn)

/** The types that can be in a domain: the assets that are counted, and others. */
export const typesInDomains: readonly string[] = [
  ...assetTypes,
  'GLOSSARY_TERM',
  'GLOSSARY_NODE',
  'DATA_PRODUCT',
  'APPLICATION',
  'DOCUMENT',
  'METRIC',
  'SEMANTIC_MODEL'
]

/** Whether such an entity can be in a domain, as the server says. */
export const canBeInDomain = (type: string): boolean => typesInDomains.includes(type)

/** Whether people can put it into a domain: the server refuses placeholders. */
export const canGetDomain = ({ type, exists }: Pick<Card, 'type' | 'exists'>): boolean =>
  exists && canBeInDomain(type)

/** Platforms whose names have no folders: the dots of a topic are part of its name. */
const platformsOfTopics: ReadonlySet<string> = new Set(['kafka', 'pulsar', 'kinesis', 'rabbitmq', 'pubsub'])

/** The length of the part before the name: up to the last slash of a path, or else the last dot. */
function qualifierLength(name: string, platform: string | null): number {
  const slash = name.replace(/\/+$/, '').lastIndexOf('/')
  if (slash >= 0) return slash + 1
  return platformsOfTopics.has(platform ?? '') ? 0 : name.lastIndexOf('.') + 1
}

type Names = Pick<Card, 'name' | 'qualifier' | 'nameThere'>

/** `described` is the name that producers use, `there` the one on the platform. */
function namesOf(described: string | null, there: string, platform: string | null): Names {
  if (described === null || described === there) {
    const length = qualifierLength(there, platform)
    return length < there.length
      ? { name: there.slice(length), qualifier: there.slice(0, length), nameThere: null }
      : { name: there, qualifier: '', nameThere: null }
  }
  const qualifier = there.endsWith(described) ? there.slice(0, -described.length) : ''
  return /[./:]$/.test(qualifier)
    ? { name: described, qualifier, nameThere: null }
    : { name: described, qualifier: '', nameThere: there }
}

/** The parts of the names of an entity that its type decides. */
function namesOfType(raw: RawCard, described: string | null, platform: string | null): Names {
  const plain = (name: string, qualifier = ''): Names => ({ name, qualifier, nameThere: null })
  const inUrn = nameInUrn(raw.urn)
  if (raw.fieldPath && raw.parent) return plain(shownPath(raw.fieldPath), `${nameInUrn(raw.parent.urn)}.`)
  switch (typeIn(raw.urn)) {
    case 'dataset':
      return namesOf(described, inUrn, platform)
    case 'dataJob':
      return plain(described ?? inUrn, `${nameInUrn(partsOfUrn(raw.urn)[0] ?? '')}.`)
    case 'mlFeature':
    case 'mlPrimaryKey':
      return plain(described ?? inUrn, `${partsOfUrn(raw.urn)[0] ?? ''}.`)
    default:
      return plain(described ?? raw.name ?? raw.runName ?? inUrn)
  }
}

/** The name that producers use, then the name in the URN. */
export function cardOf(raw: RawCard): Card {
  const described = Object.values(raw.described ?? {}).find((name) => name) ?? null
  const platform =
    raw.platform?.name ??
    raw.dataFlow?.orchestrator ??
    raw.orchestrator ??
    (raw.parent ? platformIn(raw.parent.urn) : null)
  return {
    urn: raw.urn,
    type: raw.type,
    ...namesOfType(raw, described, platform),
    platform,
    environment: raw.origin ?? null,
    domain: raw.domain ? domainIn(raw.domain.domain) : null,
    exists: raw.exists !== false
  }
}

const domainIn = ({ urn, properties, parentDomains }: RawDomain): CardDomain => {
  const name = properties?.name ?? nameInUrn(urn)
  const parents = (parentDomains?.domains ?? []).toReversed()
  return {
    urn,
    name,
    path: [...parents.map((each) => each.properties?.name ?? nameInUrn(each.urn)), name],
    urns: [...parents.map((each) => each.urn), urn]
  }
}

/** `raw.stripe.orders`: the name with what tells it from others of its name. */
export const wholeName = ({ qualifier, name }: Pick<Card, 'qualifier' | 'name'>): string => qualifier + name

/** `Finance › Revenue`. */
export const domainPath = ({ path }: CardDomain): string => path.join(' › ')
