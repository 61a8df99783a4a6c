/**
 * Finds datasets and jobs by their namespace and name in OpenLineage and Marquez, and gives these names for
 * assets.
 */
import type { Db, Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { assetNameOf } from '../../model/asset-name.ts'
import type { Connections } from '../../openlineage/connections.ts'
import { resolveDataset } from '../../openlineage/names.ts'
import { findEventNames, findJobsNamed, type NamedKind } from '../../store/named-assets.ts'
import { datasetUrn } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'

export type NamedAsset = { namespace: string; name: string }

/** The namespace and name of each asset: as events have it, otherwise derived from its URN. */
export async function namesOfAssets(db: Db | Tx, urns: readonly Urn[]): Promise<Map<Urn, NamedAsset>> {
  const events = await findEventNames(db, urns)
  return new Map(
    urns.map((urn) => {
      const { namespace, name } = events.get(urn) ?? assetNameOf(urn)
      return [urn, { namespace, name }]
    })
  )
}

/**
 * The URNs that a namespace and name may mean, the likeliest first, whether or not they exist. For a dataset:
 * the URN that contains the name, and the URN that an event with this name would mean. For a job: the URN
 * with this name.
 */
export async function urnsNamed(
  db: Db | Tx,
  kind: NamedKind,
  names: readonly NamedAsset[],
  connections: Connections | undefined
): Promise<Urn[]> {
  if (kind === 'dataset') return names.flatMap((name) => datasetsNamed(name, connections))
  const jobs = await findJobsNamed(
    db,
    names.map(({ namespace, name }) => ({ namespace, name, cluster: encoded(namespace), id: encoded(name) }))
  )
  return names.flatMap((wanted) =>
    jobs
      .filter(({ namespace, name }) => namespace === wanted.namespace && name === wanted.name)
      .map(({ urn }) => urn)
  )
}

function datasetsNamed({ namespace, name }: NamedAsset, connections: Connections | undefined): Urn[] {
  const at = namespace.lastIndexOf('@')
  const [platform, environment] =
    at > 0 ? [namespace.slice(0, at), namespace.slice(at + 1)] : [namespace, 'PROD']
  return [
    () => resolveDataset({ namespace, name }, connections).urn,
    // Not tried for a namespace that is an address, because no derived name has such a namespace.
    () => (/[/:]/.test(namespace) ? null : datasetUrn(platform, name, environment))
  ].flatMap((make) => {
    try {
      return make() ?? []
    } catch (error) {
      if (error instanceof CatalogError) return []
      throw error
    }
  })
}

/** The text, encoded as a part of a URN. */
export const encoded = (text: string): string =>
  text.replaceAll(/[(),]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
