/** The catalog that probes are sent to: three domains, assets inside and outside of one, a load of one token. */
import type { JsonValue } from '../../shared/model/changes.ts'
import { assetUrn, domainUrn } from './catalog.ts'

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,probe.${name},PROD)`

/** `own`, with `team` below it, is what limited tokens are limited to. */
export const domains = {
  own: 'urn:li:domain:own',
  team: 'urn:li:domain:team',
  other: 'urn:li:domain:other'
} as const
/**
 * `inside` and `linked` are in `own`, `outside` is in `other`, `free` in no domain. There are edges from `free` and
 * `linked` to `outside`.
 */
export const assets = {
  linked: dataset('linked'),
  inside: dataset('inside'),
  outside: dataset('outside'),
  free: dataset('free')
} as const

export const worldRecords: JsonValue[] = [
  { op: 'createDomain', id: 'own', name: 'Own' },
  { op: 'createDomain', id: 'team', name: 'Team', parentDomain: domains.own },
  { op: 'createDomain', id: 'other', name: 'Other' },
  ...Object.entries(assets).map(([name, urn]) => ({ op: 'upsertEntity', urn, name })),
  { op: 'setDomain', entityUrn: assets.inside, domainUrn: domains.own },
  { op: 'setDomain', entityUrn: assets.linked, domainUrn: domains.own },
  { op: 'setDomain', entityUrn: assets.outside, domainUrn: domains.other },
  { upstreamUrn: assets.free, downstreamUrn: assets.outside },
  { upstreamUrn: assets.linked, downstreamUrn: assets.outside },
  // What the other client reads.
  ...[0, 1, 2, 3].map((level) => ({
    op: 'createDomain',
    id: `level${level}`,
    name: `Level ${level}`,
    ...(level > 0 ? { parentDomain: domainUrn(level - 1) } : {})
  })),
  ...[7, 48_998, 48_999, 49_000].map((index) => ({
    op: 'upsertEntity',
    urn: assetUrn(index),
    name: `t${index}`
  })),
  { upstreamUrn: assetUrn(48_998), downstreamUrn: assetUrn(48_999) },
  { upstreamUrn: assetUrn(48_999), downstreamUrn: assetUrn(49_000) }
]

/** The load of the token `writer`: one record is applied, and one is rejected. */
export const writersRecords: JsonValue[] = [
  { op: 'upsertEntity', urn: dataset('secret'), name: 'secret plans' },
  { op: 'setDomain', entityUrn: dataset('absent'), domainUrn: domains.other }
]
