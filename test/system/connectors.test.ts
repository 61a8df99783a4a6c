/** Files of real connectors: loaded by the command line, read back aspect by aspect, and walked. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { isObject, listOf } from '../../shared/model/json-values.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import type { CatalogClient } from '../support/catalog-client.ts'
import { valueAt } from '../support/json-answer.ts'
import { skipUnless } from '../support/skip.ts'
import { withCatalog, type Catalog } from './support/catalog.ts'
import { edgesOfDocuments } from './support/document-edges.ts'
import { expectedAspects } from './support/expected-aspects.ts'
import { edgesOfWalks } from './support/one-hop-walks.ts'
import { runCli } from './support/processes.ts'
import { connectorFolder, readSentAspects, sentAspects } from './support/sent-aspects.ts'

/** The elements of a file, and the documents that no general rule gives, by `urn aspectName`. */
type ConnectorCase = { about: string; elements: JsonValue[]; expected: { [key: string]: JsonObject } }

const readersCount = 4

/** Documents are kept by `urn aspectName`. */
const urnOf = (key: string): string => key.slice(0, key.lastIndexOf(' '))
const aspectOf = (key: string): string => key.slice(key.lastIndexOf(' ') + 1)

async function load(t: Test, { env }: Catalog, path: string): Promise<JsonValue> {
  const { code, said } = await runCli(
    t,
    ['load', path, '--format', 'mcp', '--missing-references', 'create', '--json'],
    env
  )
  const answer: JsonValue = JSON.parse(said.split('\n').find((line) => line.startsWith('{')) ?? 'null')
  t.equal(code, 0, said)
  return answer
}

/** The documents read back; null for a missing one. */
async function readBack(client: CatalogClient, keys: Iterable<string>): Promise<Map<string, JsonValue>> {
  const found = new Map<string, JsonValue>()
  const left = [...keys].reverse()
  async function reader(): Promise<void> {
    for (let key = left.pop(); key !== undefined; key = left.pop()) {
      const { status, json } = await client.readAspect(urnOf(key), aspectOf(key))
      const wrapped = valueAt(json, 'aspect')
      const [value] = typeof wrapped === 'object' && wrapped !== null ? Object.values(wrapped) : []
      found.set(key, status === 200 ? (value ?? null) : null)
    }
  }
  await Promise.all(Array.from({ length: readersCount }, reader))
  return found
}

/** The keys of different documents, with both documents. */
function differences(
  expected: ReadonlyMap<string, JsonValue>,
  found: ReadonlyMap<string, JsonValue>
): { key: string; expected: JsonValue; found: JsonValue }[] {
  return [...expected].flatMap(([key, value]) =>
    isDeepStrictEqual(value, found.get(key)) ? [] : [{ key, expected: value, found: found.get(key) ?? null }]
  )
}

function edgesOf(found: ReadonlyMap<string, JsonValue>): ReturnType<typeof edgesOfDocuments> {
  return edgesOfDocuments([...found].map(([key, value]) => [urnOf(key), aspectOf(key), value] as const))
}

/**
 * Walks from each end of the documents' edges and from each asset, in both directions: the edges found, and
 * those in the documents.
 */
async function sameInWalks(
  t: Test,
  client: CatalogClient,
  found: ReadonlyMap<string, JsonValue>
): Promise<void> {
  const edges = edgesOf(found)
  const ends = (set: Set<string>): string[] => [...new Set([...set].flatMap((edge) => edge.split(' > ')))]
  // A walk along columns also returns the jobs that state them, as in DataHub.
  const jobsOfColumns = new Set(
    [...found].flatMap(([key, value]) =>
      aspectOf(key) === 'dataJobInputOutput' &&
      isObject(value) &&
      listOf(value.fineGrainedLineages).length > 0
        ? [urnOf(key) as string]
        : []
    )
  )
  // Downstream of the column of a chart are the dashboards with this chart.
  const dashboardsOf = (column: string): string[] => {
    const chart = /^urn:li:schemaField:\((urn:li:chart:\([^()]*\)),/.exec(column)?.[1]
    return [...edges.assets].flatMap((edge) =>
      chart !== undefined && edge.startsWith(`${chart} > urn:li:dashboard:`)
        ? [edge.slice(chart.length + 3)]
        : []
    )
  }
  const ofCharts = new Set(
    ends(edges.columns).flatMap((column) =>
      dashboardsOf(column).map((dashboard) => `${column} > ${dashboard}`)
    )
  )
  const isOfJob = (edge: string): boolean => edge.split(' > ').some((end) => jobsOfColumns.has(end))
  const owners = [...found.keys()]
    .map((key) => urnOf(key))
    .filter((urn) => /^urn:li:(dataset|chart|dashboard|dataJob|ml\w+|dataProcessInstance):/.test(urn))
  for (const [what, stated, urns] of [
    ['assets', edges.assets, [...new Set([...ends(edges.assets), ...owners])]],
    ['columns', edges.columns, ends(edges.columns)]
  ] as const) {
    for (const direction of ['DOWNSTREAM', 'UPSTREAM'] as const) {
      const walked = await edgesOfWalks(client, urns, direction)
      const expected =
        what === 'columns' && direction === 'DOWNSTREAM' ? new Set([...stated, ...ofCharts]) : stated
      const onlyStated = [...expected].filter((edge) => !walked.has(edge))
      const onlyWalked = [...walked].filter(
        (edge) => !expected.has(edge) && !(what === 'columns' && isOfJob(edge))
      )
      t.same(
        { onlyStated, onlyWalked },
        { onlyStated: [], onlyWalked: [] },
        `${stated.size} edges of ${what}, ${direction}`
      )
    }
  }
}

t.test('row 4: the files of three connectors', async (t) => {
  const folder = connectorFolder()
  if (
    skipUnless(
      t,
      folder !== null,
      'the test data is neither in $TRIBUTARY_TEST_DATA/mcp nor in ../shared/data/mcp'
    ) ||
    folder === null
  )
    return
  const catalog = await withCatalog(t, { workers: 1 })
  const { client } = catalog
  const paths = ['dbt', 'tableau', 'snowflake'].map((name) => join(folder, `${name}.json`))
  const expected = expectedAspects(paths.flatMap(readSentAspects))

  await t.test('are loaded by the command line without a reject', async (t) => {
    for (const path of paths) {
      const answer = await load(t, catalog, path)
      t.match(answer, { state: 'done', format: 'mcp', counts: { rejected: 0 } })
      t.equal(valueAt(answer, 'counts.applied'), valueAt(answer, 'counts.received'))
    }
  })

  let found = new Map<string, JsonValue>()
  await t.test('read back as sent, aspect by aspect', async (t) => {
    found = await readBack(client, expected.keys())
    const wrong = differences(expected, found)
    t.same(wrong.slice(0, 3), [], `${expected.size} aspects; ${wrong.length} differ`)
    t.comment(`${expected.size} aspects read back`)
  })

  await t.test('state the same edges in their documents as in walks', (t) => sameInWalks(t, client, found))

  await t.test('and one updateLineage and one patch later still do', async (t) => {
    const [ownerKey = ''] = [...expected.keys()].filter((key) => key.endsWith(' upstreamLineage'))
    const owner = urnOf(ownerKey)
    const tables = [...expected.keys()]
      .filter((key) => key.endsWith(' schemaMetadata'))
      .map((key) => urnOf(key))
      .filter((urn) => urn !== owner)
    const [added = '', patched = ''] = tables.filter((urn) => !edgesOf(found).assets.has(`${urn} > ${owner}`))
    const removed =
      [...edgesOf(found).assets].find((edge) => edge.endsWith(` > ${owner}`))?.split(' > ')[0] ?? ''
    t.match((await client.updateLineage([[added, owner]], [[removed, owner]])).json, {
      data: { updateLineage: true }
    })
    t.equal(
      (
        await client.propose(
          owner,
          'upstreamLineage',
          [
            { op: 'add', path: `/upstreams/${patched}`, value: { dataset: patched, type: 'VIEW' } },
            {
              op: 'add',
              path: `/fineGrainedLineages/NONE/urn:li:schemaField:(${owner},late)/NONE/urn:li:schemaField:(${patched},early)`,
              value: { confidenceScore: 0.5 }
            }
          ],
          { changeType: 'PATCH' }
        )
      ).status,
      200
    )

    // everything else that the two could have changed: the neighbours, and all aspects of the owner
    const near = new Set([
      owner,
      added,
      removed,
      patched,
      ...[...edgesOf(found).assets]
        .filter((edge) => edge.includes(owner))
        .flatMap((edge) => edge.split(' > '))
    ])
    const nearby = (documents: Map<string, JsonValue>) =>
      new Map([...documents].filter(([key]) => near.has(urnOf(key))))
    found = await readBack(client, nearby(expected).keys())
    const edges = edgesOf(found)
    t.ok(
      edges.assets.has(`${added} > ${owner}`) &&
        edges.assets.has(`${patched} > ${owner}`) &&
        !edges.assets.has(`${removed} > ${owner}`)
    )
    t.ok(edges.columns.has(`urn:li:schemaField:(${patched},early) > urn:li:schemaField:(${owner},late)`))
    const others = nearby(expected)
    others.delete(ownerKey)
    t.same(differences(others, found), [], 'nothing else has changed')
    const stated = [...edges.assets].filter((edge) => edge.endsWith(` > ${owner}`))
    t.same([...(await edgesOfWalks(client, [owner], 'UPSTREAM'))].sort(), stated.sort())
    t.ok(
      (await edgesOfWalks(client, [`urn:li:schemaField:(${patched},early)`], 'DOWNSTREAM')).has(
        `urn:li:schemaField:(${patched},early) > urn:li:schemaField:(${owner},late)`
      )
    )
  })
})

t.test('row 4: what further connectors send', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-connectors-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const catalog = await withCatalog(t, { workers: 1 })
  for (const name of ['machine-learning', 'orchestrator', 'old-snapshots']) {
    const {
      about,
      elements,
      expected: known
    }: ConnectorCase = JSON.parse(readFileSync(packagePath(`test/cases/connectors/${name}.json`), 'utf8'))
    await t.test(about, async (t) => {
      const path = join(folder, `${name}.json`)
      writeFileSync(path, JSON.stringify(elements))
      const answer = await load(t, catalog, path)
      t.equal(valueAt(answer, 'counts.rejected'), 0)
      const expected = expectedAspects(sentAspects(elements), known)
      const found = await readBack(catalog.client, expected.keys())
      const wrong = differences(expected, found)
      t.same(wrong, [], `${expected.size} aspects; ${wrong.length} differ`)
      await sameInWalks(t, catalog.client, found)
    })
  }

  await t.test('events in time are read as of a time', async (t) => {
    const run = 'urn:li:dataProcessInstance:8d2f1f7a9c3b4e5d6a7b8c9d0e1f2a3b'
    for (const [version, status] of [
      [0, 'COMPLETE'],
      [1_700_000_001_000, 'STARTED'],
      [1_700_000_002_000, 'COMPLETE'],
      [1_700_000_003_000, 'COMPLETE']
    ] as const) {
      const { json } = await catalog.client.send(
        'GET',
        `/aspects/${run}?aspect=dataProcessInstanceRunEvent&version=${version}`
      )
      t.equal(
        valueAt(json, 'aspect.com\\.linkedin\\.dataprocess\\.DataProcessInstanceRunEvent.status'),
        status
      )
    }
    t.equal(
      (
        await catalog.client.send(
          'GET',
          `/aspects/${run}?aspect=dataProcessInstanceRunEvent&version=1700000000999`
        )
      ).status,
      404,
      'before the first'
    )
    t.equal(
      (await catalog.client.send('GET', `/aspects/${run}?aspect=container&version=1700000003000`)).status,
      404
    )
  })
})
