/**
 * Maps OpenLineage names to URNs: datasets, jobs, runs and columns by their namespace and name.
 *
 * The rules are DataHub's, so an asset that its connectors write and the same asset in an event are one
 * asset. Where DataHub fails or drops a name, the platform is `unknown`. The first rule that matches decides,
 * and `GET /openlineage/resolve` shows the name of the rule.
 */
import { CatalogError } from '../errors.ts'
import { datasetUrn, schemaFieldUrn } from '../urn/kinds.ts'
import { fileStores, fileSystems, platformAliases } from '../urn/platforms.ts'
import { toUrn, type Urn } from '../urn/urn.ts'
import { connectionFor, type Connections } from './connections.ts'
import type { OpenLineageName } from './event.ts'

export type ResolvedDataset = {
  urn: Urn
  platform: string
  name: string
  environment: string
  rule: string
  /** The namespace of the connection that was applied, as the operator wrote it. */
  connection: string | null
  /** The platform instance of the connection; null without one. */
  platformInstance: Urn | null
  /** The domain that the connection gives to a new dataset. */
  domain: Urn | null
}

type Rule = {
  name: string
  /** The platform, and the name on it; null if the rule does not match. */
  read: (dataset: OpenLineageName) => { platform: string; name: string } | null
}

const uri = /^([a-z][a-z\d+.-]*):\/\/(.*)$/is
const glueNamespace = /^(?:arn:)?aws:glue:/i
const glueTable = /^table\/([^/]+)\/(.+)$/

const rules: readonly Rule[] = [
  {
    name: 'glue',
    read: ({ namespace, name }) =>
      glueNamespace.test(namespace) ? { platform: 'glue', name: tableOfGlue(name) } : null
  },
  {
    name: 'uri in the name',
    read: ({ name }) => {
      const [, scheme, path] = uri.exec(name) ?? []
      if (scheme === undefined || path === undefined) return null
      // The path of a file system begins after its host, the path of a store with its bucket.
      const host = fileSystems.has(scheme.toLowerCase()) ? (/^[^/]*/.exec(path)?.[0] ?? '') : ''
      return placeIn(scheme.toLowerCase(), host, path.slice(host.length))
    }
  },
  {
    name: 'scheme of the namespace',
    read: ({ namespace, name }) => {
      const [, scheme, authority] = uri.exec(namespace) ?? []
      return scheme === undefined || authority === undefined
        ? null
        : placeIn(scheme.toLowerCase(), authority, name)
    }
  },
  {
    name: 'file',
    read: ({ namespace, name }) =>
      /^file(:|$)/i.test(namespace) ? { platform: 'file', name: withoutEndSlash(name) } : null
  },
  {
    name: 'namespace is the platform',
    read: ({ namespace, name }) =>
      /^[\w-]+$/.test(namespace)
        ? { platform: platformAliases.get(namespace.toLowerCase()) ?? namespace, name }
        : null
  },
  { name: 'unknown', read: ({ namespace, name }) => ({ platform: 'unknown', name: `${namespace}/${name}` }) }
]

/** Host and port are left out, as in DataHub. */
function placeIn(scheme: string, authority: string, path: string): { platform: string; name: string } {
  const store = fileStores.get(scheme)
  if (scheme === 'azurecosmos') return { platform: 'cosmosdb', name: nameInCosmos(authority, path) }
  if (store === undefined)
    return {
      platform: platformAliases.get(scheme) ?? scheme,
      name: fileSystems.has(scheme) ? withoutEndSlash(path) : path
    }
  const key = withoutEndSlash(path)
  if (store === 'file') return { platform: store, name: key }
  const bucket = authority.replace(/\/+$/, '')
  return {
    platform: store,
    name: bucket === '' ? key.replace(/^\/+/, '') : `${bucket}/${key.replace(/^\/+/, '')}`
  }
}

/** Cosmos alone has its database in the namespace: `azurecosmos://HOST/dbs/DATABASE`, `colls/COLLECTION`. */
function nameInCosmos(authority: string, path: string): string {
  const [, database] = /\/dbs\/([^/]+)/.exec(authority) ?? []
  return database === undefined ? path : `${database}.${path.replace(/^colls\//, '')}`
}

const withoutEndSlash = (path: string): string => path.replace(/(?<=.)\/+$/, '')

const tableOfGlue = (name: string): string => {
  const [, database, table] = glueTable.exec(name) ?? []
  return database === undefined || table === undefined ? name : `${database}.${table}`
}

/** What dbt calls an ephemeral model inside the SQL of another; `dbt-ol` sends it as a table. */
const cteOfDbt = /(?:^|\.)["`]?__dbt__cte__/i

/** Throws BAD_REQUEST for a name that is not a dataset, LIMIT_EXCEEDED (urnMaxBytes), INVALID_CHARACTER. */
export function resolveDataset(dataset: OpenLineageName, connections: Connections = []): ResolvedDataset {
  if (cteOfDbt.test(dataset.name))
    throw new CatalogError('BAD_REQUEST', `${dataset.name} is a part of a statement of dbt, not a table`)
  for (const { name: rule, read } of rules) {
    const found = read(dataset)
    if (found && found.name !== '') return placed({ ...found, rule }, dataset.namespace, connections)
  }
  throw new CatalogError('BAD_REQUEST', `${dataset.namespace} ${dataset.name} does not name a dataset`)
}

/** Whether the name is that of a file or a folder. */
export const isPath = ({ namespace, name }: OpenLineageName): boolean =>
  !glueNamespace.test(namespace) &&
  (name.includes('/') || isFileScheme(uri.exec(namespace)?.[1]?.toLowerCase()))

const isFileScheme = (scheme = ''): boolean => fileStores.has(scheme) || fileSystems.has(scheme)

/** The dataset of a `TABLE` among the symlinks: a table of Glue, or of Hive, as in DataHub. */
export function resolveTable(
  { namespace, name }: OpenLineageName,
  connections: Connections = []
): ResolvedDataset {
  const platform = glueNamespace.test(namespace) ? 'glue' : 'hive'
  const found = { platform, name: tableOfGlue(name), rule: 'table among the symlinks' }
  return placed(found, namespace, connections)
}

/** Applies the connection of the namespace to a name. */
function placed(
  { platform, name, rule }: Pick<ResolvedDataset, 'platform' | 'name' | 'rule'>,
  namespace: string,
  connections: Connections
): ResolvedDataset {
  const connection = connectionFor(connections, namespace)
  const cased = connection?.lowerCase === true ? name.toLowerCase() : name
  const found = {
    platform: connection?.platform ?? platform,
    name: connection?.platformInstance ? `${connection.platformInstance}.${cased}` : cased,
    environment: connection?.environment ?? 'PROD'
  }
  return {
    ...found,
    rule,
    connection: connection?.namespace ?? null,
    platformInstance: connection?.platformInstance
      ? instanceUrn(found.platform, connection.platformInstance)
      : null,
    domain: connection?.domain ?? null,
    urn: datasetUrnOf(found.platform, found.name, found.environment)
  }
}

const datasetUrnOf = (platform: string, name: string, environment: string): Urn =>
  withParts([platform, name], ([first = '', second = '']) => datasetUrn(first, second, environment))

const instanceUrn = (platform: string, instance: string): Urn =>
  withParts([platform, instance], (parts) =>
    toUrn(`urn:li:dataPlatformInstance:(urn:li:dataPlatform:${parts.join(',')})`)
  )

/**
 * The job's namespace is the `cluster` of the flow, so that jobs of the same name in two schedulers differ.
 */
export function jobUrn(orchestrator: string, { namespace, name }: OpenLineageName): { job: Urn; flow: Urn } {
  const flow = withParts([orchestrator, flowName(name), namespace], (parts) =>
    toUrn(`urn:li:dataFlow:(${parts.join(',')})`)
  )
  return { flow, job: withParts([name], ([id = '']) => toUrn(`urn:li:dataJob:(${flow},${id})`)) }
}

/** The part of a job's name before the first dot. */
export const flowName = (jobName: string): string => jobName.split('.')[0] || jobName

/** The part of a job's name after the first dot. */
export const shortJobName = (jobName: string): string => jobName.slice(jobName.indexOf('.') + 1) || jobName

export const runUrn = (runId: string): Urn =>
  withParts([runId], ([id = '']) => toUrn(`urn:li:dataProcessInstance:${id}`))

export const columnUrn = (dataset: Urn, path: string): Urn =>
  withParts([path], ([kept = '']) => schemaFieldUrn(dataset, kept))

/**
 * Parts are kept as sent if the URN can be parsed again; otherwise they are percent-encoded, as DataHub's
 * clients do.
 */
function withParts(parts: readonly string[], make: (parts: readonly string[]) => Urn): Urn {
  const isPlain = parts.every((part) => !/[(),]/.test(part))
  if (isPlain) return make(parts)
  try {
    if (parts.slice(0, -1).every((part) => !/[(),]/.test(part))) return make(parts)
  } catch (error) {
    if (!(error instanceof CatalogError) || error.code !== 'INVALID_URN') throw error
  }
  return make(parts.map((part) => part.replaceAll(/[(),]/g, percentEncoded)))
}

const percentEncoded = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
