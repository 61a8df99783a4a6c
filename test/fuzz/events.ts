/**
 * Random OpenLineage events of every kind with every supported facet, and mutations as they may happen on the
 * wire.
 */
import { gzipSync } from 'node:zlib'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { mutated, strangeText, type Random } from './random.ts'

const facetHead = {
  _producer: 'https://example.org',
  _schemaURL: 'https://openlineage.io/spec/facets/1-0-0/Facet.json'
}
const facet = (content: JsonObject): JsonObject => ({ ...facetHead, ...content })

/** Each name contains the tag of its event, so that its effects can be found. */
const nameOf = (random: Random, tag: string): JsonObject => ({
  namespace: random.pick([
    'postgres://db:5432',
    's3://lake',
    'bigquery',
    'file',
    'arn:aws:glue:eu:1',
    'what is this?'
  ]),
  name: random.pick([`${tag}.public.a`, `table/${tag}/b`, `${tag}/c,d (e)`, `/${tag}/ü`, `s3://x/${tag}`])
})
const many = <Item>(random: Random, most: number, make: () => Item): Item[] =>
  Array.from({ length: random.below(most + 1) }, make)
const some = (random: Random, facets: { [name: string]: () => JsonValue }): JsonObject =>
  Object.fromEntries(
    Object.entries(facets).flatMap(([name, make]): [string, JsonValue][] =>
      random.chance(0.35) ? [[name, make()]] : []
    )
  )

const column = (random: Random): string => random.pick(['x', 'y.z', 'sum(x)', 'a,b'])
const columnInput = (random: Random, tag: string): JsonObject => ({
  ...nameOf(random, tag),
  field: column(random),
  transformations: many(random, 2, () => ({
    type: random.pick(['DIRECT', 'INDIRECT']),
    subtype: random.pick(['IDENTITY', 'FILTER'])
  }))
})
const lineageEnd = (random: Random, tag: string): JsonObject =>
  random.chance(0.2) ? { type: 'JOB' } : { ...nameOf(random, tag), type: 'DATASET' }
const lineageEntry = (random: Random, tag: string): JsonObject => ({
  ...lineageEnd(random, tag),
  inputs: many(random, 2, () => lineageEnd(random, tag)),
  fields: { [column(random)]: { inputs: many(random, 2, () => columnInput(random, tag)) } }
})

const facetsOfBoth = (random: Random) => ({
  documentation: () => facet({ description: strangeText(random) }),
  ownership: () =>
    facet({
      owners: many(random, 2, () => ({ name: random.pick(['team:data', 'ann', 'user:bob']), type: 'OWNER' }))
    }),
  tags: () =>
    facet({
      tags: many(random, 2, () => ({ key: 'pii', value: random.pick(['true', 'high']), source: 'x' }))
    }),
  unheardOf: () => facet({ value: strangeText(random) })
})

function datasetOf(random: Random, tag: string): JsonObject {
  return {
    ...nameOf(random, tag),
    facets: some(random, {
      ...facetsOfBoth(random),
      schema: () =>
        facet({
          fields: many(random, 3, () => ({ name: column(random), type: 'struct', fields: [{ name: 'in' }] }))
        }),
      columnLineage: () =>
        facet({
          fields: { [column(random)]: { inputFields: many(random, 2, () => columnInput(random, tag)) } },
          dataset: []
        }),
      symlinks: () =>
        facet({
          identifiers: many(random, 2, () => ({
            ...nameOf(random, tag),
            type: random.pick(['TABLE', 'LOCATION'])
          }))
        }),
      lifecycleStateChange: () =>
        facet({
          lifecycleStateChange: random.pick(['CREATE', 'DROP', 'RENAME']),
          previousIdentifier: nameOf(random, tag)
        }),
      lineage: () => facet({ inputs: many(random, 2, () => lineageEnd(random, tag)), fields: {} })
    })
  }
}

function eventOf(random: Random, tag: string): JsonObject {
  const common = {
    eventTime: new Date(Date.UTC(2026, 0, 1) + random.below(100) * 1_000).toISOString(),
    producer: 'https://github.com/OpenLineage/OpenLineage/tree/1.30.0/integration/spark',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json'
  }
  if (random.chance(0.2)) return { ...common, dataset: datasetOf(random, tag) }
  const jobName = { namespace: 'nightly', name: random.pick([`${tag}.load`, `${tag}`, `${tag}.a(b,c)`]) }
  const rest = {
    job: {
      ...jobName,
      facets: some(random, {
        ...facetsOfBoth(random),
        jobType: () => facet({ processingType: 'BATCH', integration: 'SPARK', jobType: 'JOB' }),
        lineage: () => facet({ entries: many(random, 2, () => lineageEntry(random, tag)) })
      })
    },
    inputs: many(random, 3, () => datasetOf(random, tag)),
    outputs: many(random, 2, () => datasetOf(random, tag))
  }
  if (random.chance(0.25)) return { ...common, ...rest }
  return {
    ...common,
    eventType: random.pick(['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL', 'OTHER']),
    run: {
      runId: tag,
      facets: some(random, {
        processing_engine: () => facet({ name: 'spark', version: '3' }),
        parent: () => facet({ run: { runId: `${tag}-parent` }, job: jobName }),
        jobDependencies: () =>
          facet({
            upstream: [{ job: { ...jobName, name: `${tag}.before` } }],
            downstream: [{ job: { ...jobName, name: `${tag}.after` } }]
          })
      })
    },
    ...rest
  }
}

export type SentEvents = { path: string; headers: { [name: string]: string }; body: Buffer; tags: string[] }

/**
 * One request: usually one event, with up to three mutations; sometimes a list of events, compressed or cut
 * off.
 */
export function requestOf(random: Random, seed: number, index: number): SentEvents {
  const isBatch = random.chance(0.15)
  const tags = Array.from(
    { length: isBatch ? 1 + random.below(4) : 1 },
    (_, at) => `t${seed}-${index}-${at}t`
  )
  const events = tags.map((tag) => {
    let event: JsonValue = eventOf(random, tag)
    for (let count = random.below(4); count > 0; count -= 1) event = mutated(random, event)
    return event
  })
  const text = JSON.stringify(isBatch ? events : events[0])
  const whole = Buffer.from(
    random.chance(0.03)
      ? text.slice(0, random.below(text.length))
      : random.chance(0.02)
        ? text.replace('"', "'")
        : text
  )
  if (random.chance(0.02)) whole[random.below(whole.length)] = 0xff
  const isPacked = random.chance(0.1)
  const body = isPacked ? gzipSync(whole) : whole
  if (isPacked && random.chance(0.1)) body[random.below(body.length)] = 0x00
  return {
    path: `${random.chance(0.2) ? '/openapi/openlineage' : ''}/api/v1/lineage${isBatch ? '/batch' : ''}`,
    headers: { 'content-type': 'application/json', ...(isPacked ? { 'content-encoding': 'gzip' } : {}) },
    body,
    tags
  }
}
