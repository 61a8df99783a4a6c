/** Trials of reports about writes: repeats, concurrency, preconditions, patches and times. */
import { deepEqual, equal } from 'node:assert/strict'
import type { JsonObject } from '../../shared/model/changes.ts'
import type { Trial } from './trial.ts'

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

export const writeTrials: readonly Trial[] = [
  {
    reports: ['open-metadata/OpenMetadata 28755', 'open-metadata/OpenMetadata 30459'],
    tried: 'One load with the same asset, edge and domain several times, and the same load again',
    answer: 'right',
    name: 'what a load states several times counts once and is no error',
    run: async (world) => {
      const { table } = world
      const domainUrn = await world.createDomain('Once')
      const records: JsonObject[] = [
        { op: 'upsertEntity', urn: table('a') },
        { op: 'upsertEntity', urn: table('a') },
        { op: 'upsertEntity', urn: table('b') },
        { upstreamUrn: table('a'), downstreamUrn: table('b') },
        { upstreamUrn: table('a'), downstreamUrn: table('b') },
        { op: 'setDomain', entityUrn: table('a'), domainUrn },
        { op: 'setDomain', entityUrn: table('a'), domainUrn }
      ]
      const { counts } = await world.load(records)
      deepEqual([counts.received, counts.rejected], [7, 0])
      const again = await world.load(records)
      deepEqual([again.counts.applied, again.counts.unchanged], [0, 7])
      equal((await world.walk(table('a'))).total, 1)
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 27797'],
    tried: 'Thirty writers that add an upstream to one table at the same time',
    answer: 'right',
    name: 'writers of one asset at the same time all succeed, and nothing of them is lost',
    run: async (world) => {
      const { table } = world
      await world.load(
        [...range(30).map((at) => table(`up_${at}`)), table('t')].map((urn) => ({ op: 'upsertEntity', urn }))
      )
      await Promise.all(
        range(30).map((at) =>
          at % 2 === 0
            ? world.update({ add: [[table(`up_${at}`), table('t')]] })
            : world.propose(
                table('t'),
                'upstreamLineage',
                [
                  {
                    op: 'add',
                    path: `/upstreams/${table(`up_${at}`)}`,
                    value: { dataset: table(`up_${at}`), type: 'TRANSFORMED' }
                  }
                ],
                'PATCH'
              )
        )
      )
      equal((await world.walk(table('t'), { direction: 'UPSTREAM' })).total, 30)
    }
  },
  {
    reports: ['datahub-project/datahub 19127'],
    tried:
      'Writes with a version that matches, with a stale one, and with one for an absent aspect, on three routes',
    answer: 'right',
    name: 'a version that a write requires is compared on every route',
    run: async (world) => {
      const { table, ask } = world
      const urn = table('t')
      const value = (description: string): JsonObject => ({ description })
      for (const text of ['one', 'two', 'three'])
        await world.propose(urn, 'editableDatasetProperties', value(text))
      const single = (version: string, text: string) =>
        ask({
          method: 'POST',
          url: `/openapi/v3/entity/dataset/${encodeURIComponent(urn)}/editableDatasetProperties?createIfNotExists=false`,
          body: { value: value(text), headers: { 'If-Version-Match': version } }
        })
      const batch = (version: string, text: string) =>
        ask({
          method: 'POST',
          url: '/openapi/v3/entity/dataset?async=false',
          body: [
            {
              urn,
              editableDatasetProperties: { value: value(text), headers: { 'If-Version-Match': version } }
            }
          ]
        })
      const proposal = (version: string, text: string) =>
        ask({
          method: 'POST',
          url: '/aspects?action=ingestProposal',
          body: {
            proposal: {
              entityType: 'dataset',
              entityUrn: urn,
              changeType: 'UPSERT',
              aspectName: 'editableDatasetProperties',
              aspect: { json: value(text) },
              headers: { 'If-Version-Match': version }
            }
          }
        })
      let version = 3
      for (const write of [single, batch, proposal]) {
        equal((await write(String(version), `at ${version}`)).status, 200)
        version += 1
        equal((await write(String(version - 1), 'stale')).status, 412)
        equal((await write('-1', 'absent')).status, 412)
      }
      equal((await world.aspect(urn, 'editableDatasetProperties')).description, `at ${version - 1}`)
    }
  },
  {
    reports: ['datahub-project/datahub 19256'],
    tried: 'Patches of lineage, tags and properties of tables that have none of these aspects',
    answer: 'right',
    name: 'a patch of an aspect that does not exist creates it',
    run: async (world) => {
      const { table } = world
      await world.load([table('a'), table('b')].map((urn) => ({ op: 'upsertEntity', urn })))
      const patches: [string, string, JsonObject | string][] = [
        ['upstreamLineage', `/upstreams/${table('a')}`, { dataset: table('a'), type: 'COPY' }],
        ['globalTags', '/tags/urn:li:tag:gold', { tag: 'urn:li:tag:gold' }],
        ['datasetProperties', '/customProperties/team', 'sales']
      ]
      for (const [aspectName, path, value] of patches)
        await world.propose(table('b'), aspectName, [{ op: 'add', path, value }], 'PATCH')
      deepEqual(await world.upstream(table('b')), ['a'])
      equal((await world.aspect(table('b'), 'globalTags')).tags.length, 1)
      equal((await world.aspect(table('b'), 'datasetProperties')).customProperties.team, 'sales')
    }
  }
]
