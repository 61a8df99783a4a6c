/**
 * JSON Patches that are short but would make a large document or take long, through each interface that
 * accepts patches.
 */
import type { JsonObject, PatchOperation } from '../../shared/model/changes.ts'
import { limits } from '../../shared/limits.ts'
import { segment } from '../support/changes.ts'
import type { Attack } from './attack.ts'
import { assetUrn } from './catalog.ts'

const times = <Value>(count: number, value: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => value(index))

/** Attacks store nothing, so each begins with an aspect that the asset does not have. */
const aspectName = 'moonPhase'
const urn = assetUrn(1)

const doubling: PatchOperation[] = [
  { op: 'add', path: '/a', value: ['x'] },
  ...times(40, (): PatchOperation => ({ op: 'copy', from: '/a', path: '/a/0' }))
]
/** The largest number of operations in a patch, after the one that creates the list. */
const most = limits.patchOperationsMaxCount - 1
const longList = times(200_000, (index) => index % 10)
const edge = `/upstreams/${segment(assetUrn(0))}`

const proposal = (
  operations: readonly PatchOperation[],
  aspect = aspectName,
  arrayPrimaryKeys?: JsonObject
): JsonObject => ({
  entityType: 'dataset',
  entityUrn: urn,
  changeType: 'PATCH',
  aspectName: aspect,
  aspect: {
    value: JSON.stringify(arrayPrimaryKeys ? { arrayPrimaryKeys, patch: operations } : operations),
    contentType: 'application/json-patch+json'
  }
})

const overRestli = (
  name: string,
  make: () => JsonObject,
  expected: Attack['expected'] = [{ status: 400, reason: 'LIMIT_EXCEEDED' }]
): Attack => ({
  name: `${name} (RestLi)`,
  path: '/aspects?action=ingestProposal',
  body: () => JSON.stringify({ proposal: make() }),
  atOnce: 2,
  expected
})

export const smallPatches: readonly Attack[] = [
  overRestli('40 copies of a list into itself', () => proposal(doubling)),
  {
    name: '40 copies of a list into itself (OpenAPI v3)',
    method: 'PATCH',
    path: `/openapi/v3/entity/dataset/${encodeURIComponent(urn)}/${aspectName}`,
    body: () => JSON.stringify({ patch: doubling }),
    atOnce: 2,
    expected: [{ status: 400, reason: 'LIMIT_EXCEEDED' }]
  },
  {
    name: '40 copies of a list into itself (load)',
    path: '/loads?format=ndjson&wait=25',
    contentType: 'application/x-ndjson',
    body: () => JSON.stringify(proposal(doubling)),
    atOnce: 2,
    expected: [
      { status: 200, reason: 'REJECTED' },
      { status: 202, reason: 'REJECTED' }
    ]
  },
  overRestli(`${most} moves into each other`, () =>
    proposal([
      { op: 'add', path: '/a', value: {} },
      ...times(most, (index): PatchOperation =>
        index % 2 === 0
          ? { op: 'move', from: '/a', path: '/b/x/x/x/x' }
          : { op: 'move', from: '/b', path: '/a/x/x/x/x' }
      )
    ])
  ),
  overRestli(`${most} entries put before a list of 200,000`, () =>
    proposal([
      { op: 'add', path: '/a', value: longList },
      ...times(most, (): PatchOperation => ({ op: 'add', path: '/a/0', value: 0 }))
    ])
  ),
  {
    name: '1,000 patches of a wide aspect in one call',
    path: '/aspects?action=ingestProposalBatch',
    atOnce: 2,
    expected: [{ status: 400, reason: 'LIMIT_EXCEEDED' }],
    body: () =>
      JSON.stringify({
        proposals: [
          proposal([{ op: 'add', path: '/a', value: times(90_000, () => 1) }]),
          ...times(1_000, (index) => proposal([{ op: 'add', path: `/k${index}`, value: index }]))
        ]
      })
  },
  overRestli('a list of 2,000,000', () => ({
    ...proposal([]),
    changeType: 'UPSERT',
    aspect: { value: JSON.stringify({ a: times(2_000_000, () => 1) }), contentType: 'application/json' }
  })),
  overRestli(`${most} patches of what one edge says`, () =>
    proposal(
      times(most, (index): PatchOperation => ({
        op: 'add',
        path: `${edge}/properties/k${index}`,
        value: 'v'
      })),
      'upstreamLineage'
    )
  ),
  overRestli(`a patch of ${most + 2} operations`, () =>
    proposal(times(most + 2, (index): PatchOperation => ({ op: 'add', path: `/k${index}`, value: 'v' })))
  ),
  overRestli('keys for an array, 10,000 of them', () =>
    proposal([{ op: 'add', path: '/a', value: [] }], aspectName, { a: times(10_000, (index) => `k${index}`) })
  ),
  overRestli(`an object of ${limits.jsonObjectKeysMaxCount + 1} keys`, () =>
    proposal([
      {
        op: 'add',
        path: '/a',
        value: Object.fromEntries(times(limits.jsonObjectKeysMaxCount + 1, (index) => [`k${index}`, 1]))
      }
    ])
  ),
  overRestli('a key of a million characters', () =>
    proposal([{ op: 'add', path: '/a', value: { ['k'.repeat(1_000_000)]: 1 } }])
  )
]
