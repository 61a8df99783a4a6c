/**
 * The platform, namespace and name of an asset according to its URN. Domain rules match them, and Marquez'
 * routes use them for assets that no event named.
 */
import { nameFromUrn, originOf, platformOf } from '../urn/kinds.ts'
import { splitUrn, type Urn } from '../urn/urn.ts'

export type AssetName = { platform: string | null; namespace: string; name: string }

const platformPrefix = 'urn:li:dataPlatform:'

/**
 * The namespace of a job or a flow is the cluster of the flow, as in the URNs made for OpenLineage events.
 * The namespace of other assets is their platform, with a suffix such as `@DEV` if the environment is not
 * PROD; without a platform, it is the first part of the URN.
 */
export function assetNameOf(urn: Urn): AssetName {
  const platform = platformOf(urn)?.slice(platformPrefix.length) ?? null
  const name = nameFromUrn(urn)
  const { entityType, parts } = splitUrn(urn)
  if (entityType === 'dataFlow') return { platform, namespace: decoded(parts[2] ?? ''), name }
  if (entityType === 'dataJob') return { platform, namespace: clusterOf(parts[0] ?? ''), name }
  const origin = originOf(urn)
  const place = platform ?? decoded(parts[0] ?? '')
  return { platform, namespace: origin === null || origin === 'PROD' ? place : `${place}@${origin}`, name }
}

/** The part after the last comma; commas within the part are percent-encoded. */
const clusterOf = (flow: string): string => decoded(flow.slice(flow.lastIndexOf(',') + 1, -1))

const decoded = (part: string): string =>
  part.replaceAll('%2C', ',').replaceAll('%28', '(').replaceAll('%29', ')')
