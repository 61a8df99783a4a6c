/**
 * What the UI shows of an entity: its name, type, platform, environment and domain, from the answer or, for a
 * placeholder, from the URN.
 */
import { isColumnUrn, shownPath } from './column-urn.ts'
import type { RawCard } from './queries.ts'

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

export type Card = {
  urn: string
  /** An EntityType of the schema: DATASET, DATA_JOB. */
  type: string
  name: string
  /** The platform, or the orchestrator of a job; null for types without one. */
  platform: string | null
  environment: string | null
  domain: { urn: string; name: string } | null
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

/** The types that can be in a domain besides the assets that are counted. */
const typesInDomains: ReadonlySet<string> = new Set([
  ...assetTypes,
  'GLOSSARY_TERM',
  'GLOSSARY_NODE',
  'DATA_PRODUCT',
  'APPLICATION',
  'DOCUMENT',
  'METRIC',
  'SEMANTIC_MODEL'
])

/** Whether such an entity can be in a domain, as the server says. */
export const canBeInDomain = (type: string): boolean => typesInDomains.has(type)

/** Whether people can put it into a domain: the server refuses placeholders. */
export const canGetDomain = ({ type, exists }: Pick<Card, 'type' | 'exists'>): boolean =>
  exists && canBeInDomain(type)

/** The first known name: the name that producers use, then the name in the URN. */
export function cardOf(raw: RawCard): Card {
  const described = Object.values(raw.described ?? {}).find((name) => name)
  return {
    urn: raw.urn,
    type: raw.type,
    name:
      described ??
      (raw.fieldPath ? shownPath(raw.fieldPath) : (raw.name ?? raw.runName)) ??
      nameInUrn(raw.urn),
    platform: raw.platform?.name ?? raw.dataFlow?.orchestrator ?? raw.orchestrator ?? null,
    environment: raw.origin ?? null,
    domain: raw.domain
      ? {
          urn: raw.domain.domain.urn,
          name: raw.domain.domain.properties?.name ?? nameInUrn(raw.domain.domain.urn)
        }
      : null,
    exists: raw.exists !== false
  }
}
