/** OpenLineage events say the same in whatever order they come, one by one or together, once or twice. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { ingestEvents, readEvent } from '../shared/catalog/openlineage/ingest-events.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { somebody } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { fc, casesOf } from './support/fast-check.ts'
import { contentFrom, eventAt, facet, lastEntityId } from './support/openlineage.ts'

const call = { actor: somebody, requestId: null }

/** A random event; `tag` stands in every name, so that many cases are played in one database. */
type RandomEvent = (tag: string) => JsonObject

const time = fc.nat({ max: 12 })
const datasetNumber = fc.nat({ max: 4 })
const columnName = fc.constantFrom('x', 'y', 'sum(x)')
/** Host and port are left out of a URN: it is the same dataset under each of these. */
const namespace = fc.constantFrom('postgres://h:5432', 'postgresql://other')
const named = (number: number, tag: string): JsonObject => ({
  namespace: 'postgres://h:5432',
  name: `${tag}.d${number}`
})
const pathOf = (number: number, tag: string): JsonObject => ({
  namespace: 's3://bucket',
  name: `${tag}/p${number}`
})

const warehouse =
  (name: string) =>
  (tag: string): JsonObject => ({
    namespace: 'postgres://h:5432',
    name: `${tag}.${name}`
  })

const columnInputs = fc.array(
  fc.tuple(datasetNumber, columnName, fc.constantFrom('IDENTITY', 'TRANSFORMATION')),
  {
    minLength: 1,
    maxLength: 2
  }
)
const columnFacet = fc.dictionary(columnName, columnInputs, { maxKeys: 2 }).map(
  (columns) =>
    (tag: string): JsonObject =>
      facet({
        fields: Object.fromEntries(
          Object.entries(columns).map(([column, inputs]) => [
            column,
            {
              inputFields: inputs.map(([number, field, subtype]) => ({
                ...named(number, tag),
                field,
                transformations: [{ type: 'DIRECT', subtype }]
              }))
            }
          ])
        )
      })
)

/** A dataset, the job of the event, or one of three jobs by its name. */
const lineageEnd = fc.oneof(
  {
    weight: 4,
    arbitrary: datasetNumber.map((number) => (tag: string) => ({ ...named(number, tag), type: 'DATASET' }))
  },
  { weight: 1, arbitrary: fc.constant((): JsonObject => ({ type: 'JOB' })) },
  {
    weight: 2,
    arbitrary: fc
      .nat({ max: 2 })
      .map((number) => (tag: string) => ({ namespace: 'nightly', name: `${tag}.job${number}`, type: 'JOB' }))
  }
)
/** The facet `lineage` of a dataset; an empty list of inputs says that there is none. */
const lineageOfDataset = fc
  .record({
    inputs: fc.option(fc.array(lineageEnd, { maxLength: 2 })),
    columns: fc.dictionary(columnName, fc.array(fc.tuple(datasetNumber, columnName), { maxLength: 2 }), {
      maxKeys: 1
    })
  })
  .map(
    ({ inputs, columns }) =>
      (tag: string): JsonObject =>
        facet({
          ...(inputs ? { inputs: inputs.map((input) => input(tag)) } : {}),
          fields: Object.fromEntries(
            Object.entries(columns).map(([column, from]) => [
              column,
              { inputs: from.map(([number, field]) => ({ ...named(number, tag), type: 'DATASET', field })) }
            ])
          )
        })
  )

const deleted: JsonObject = { _deleted: true }

/** `at` is the time of the event. */
type RandomDataset = (tag: string, at: number) => JsonObject
const plainDataset: fc.Arbitrary<RandomDataset> = fc
  .record({
    number: datasetNumber,
    namespace,
    columns: fc.option(columnFacet),
    lineage: fc.option(lineageOfDataset, { freq: 2 }),
    text: fc.option(fc.constantFrom('one', 'two')),
    fields: fc.option(fc.subarray(['x', 'y'])),
    owners: fc.option(fc.subarray(['team:data', 'ann'])),
    tags: fc.option(fc.subarray(['raw', 'pii'])),
    withdrawn: fc.subarray(['schema', 'ownership', 'columnLineage', 'lineage', 'lifecycleStateChange'], {
      maxLength: 1
    }),
    state: fc.option(fc.constantFrom('CREATE', 'DROP'), { freq: 4 })
  })
  .map(({ number, namespace, columns, lineage, text, fields, owners, tags, withdrawn, state }) => (tag) => ({
    ...named(number, tag),
    namespace,
    facets: {
      ...(columns ? { columnLineage: columns(tag) } : {}),
      ...(lineage ? { lineage: lineage(tag) } : {}),
      ...(text === null ? {} : { documentation: facet({ description: text }) }),
      ...(fields ? { schema: facet({ fields: fields.map((name) => ({ name, type: 'int' })) }) } : {}),
      ...(owners ? { ownership: facet({ owners: owners.map((name) => ({ name })) }) } : {}),
      ...(tags ? { tags: facet({ tags: tags.map((key) => ({ key, value: 'true' })) }) } : {}),
      ...(state === null ? {} : { lifecycleStateChange: facet({ lifecycleStateChange: state }) }),
      ...Object.fromEntries(withdrawn.map((name) => [name, deleted]))
    }
  }))
/** A path that is a table, and not always the same one: some events say so, and others do not know it. */
const pathDataset: fc.Arbitrary<RandomDataset> = fc
  .tuple(fc.nat({ max: 1 }), fc.option(fc.nat({ max: 1 })), fc.option(fc.constantFrom('one', 'two')))
  .map(([number, table, text]) => (tag) => ({
    ...pathOf(number, tag),
    facets: {
      ...(text === null ? {} : { documentation: facet({ description: text }) }),
      ...(table === null
        ? {}
        : {
            symlinks: facet({
              identifiers: [{ namespace: 'hive://h', name: `${tag}.t${table}`, type: 'TABLE' }]
            })
          })
    }
  }))
/** Tables that are renamed: some events say so, and others know the former name only. */
const renamedDataset: fc.Arbitrary<RandomDataset> = fc
  .tuple(
    fc.nat({ max: 1 }),
    fc.constantFrom('was', 'is'),
    fc.boolean(),
    fc.option(fc.constantFrom('one', 'two'))
  )
  .map(([number, name, isRenamed, text]) => (tag) => ({
    namespace: 'postgres://h:5432',
    name: `${tag}.${name}${number}`,
    facets: {
      ...(text === null ? {} : { documentation: facet({ description: text }) }),
      ...(isRenamed && name === 'is'
        ? {
            lifecycleStateChange: facet({
              lifecycleStateChange: 'RENAME',
              previousIdentifier: { namespace: 'postgres://h:5432', name: `${tag}.was${number}` }
            })
          }
        : {})
    }
  }))
/** A table that is renamed twice, the second time later: some events say so, and others know one of its names only. */
const twiceRenamedDataset: fc.Arbitrary<RandomDataset> = fc
  .tuple(fc.nat({ max: 2 }), fc.boolean(), fc.option(fc.constantFrom('one', 'two')))
  .map(([step, isRenamed, text]) => (tag, at) => ({
    namespace: 'postgres://h:5432',
    name: `${tag}.step${step}`,
    facets: {
      ...(text === null ? {} : { documentation: facet({ description: text }) }),
      ...(isRenamed && ((step === 1 && at < 6) || (step === 2 && at > 6))
        ? {
            lifecycleStateChange: facet({
              lifecycleStateChange: 'RENAME',
              previousIdentifier: { namespace: 'postgres://h:5432', name: `${tag}.step${step - 1}` }
            })
          }
        : {})
    }
  }))
const anyDataset = fc.oneof(
  { weight: 3, arbitrary: plainDataset },
  { weight: 2, arbitrary: pathDataset },
  { weight: 2, arbitrary: renamedDataset },
  { weight: 2, arbitrary: twiceRenamedDataset }
)

const lineageFacet = fc
  .array(fc.tuple(lineageEnd, fc.array(lineageEnd, { maxLength: 2 })), { minLength: 1, maxLength: 2 })
  .map(
    (entries) =>
      (tag: string): JsonObject =>
        facet({
          entries: entries.map(([target, inputs]) => ({
            ...target(tag),
            inputs: inputs.map((input) => input(tag))
          }))
        })
  )

const jobNames = fc.array(fc.nat({ max: 2 }), { maxLength: 1 })
const dependencies = fc.record({ upstream: jobNames, downstream: jobNames })

const jobEventParts = fc.record({
  job: fc.nat({ max: 1 }),
  inputs: fc.array(anyDataset, { maxLength: 2 }),
  outputs: fc.array(anyDataset, { maxLength: 2 }),
  lineage: fc.option(lineageFacet, { freq: 3 }),
  text: fc.option(fc.constantFrom('one', 'two')),
  isStreaming: fc.option(fc.boolean(), { freq: 2 })
})
type JobEventParts = typeof jobEventParts extends fc.Arbitrary<infer Parts> ? Parts : never

const dependencyFacet = (
  { upstream, downstream }: { upstream: readonly number[]; downstream: readonly number[] },
  tag: string
): JsonObject => {
  const named = (numbers: readonly number[]): JsonObject[] =>
    numbers.map((number) => ({ job: { namespace: 'nightly', name: `${tag}.job${number}` } }))
  return { jobDependencies: facet({ upstream: named(upstream), downstream: named(downstream) }) }
}

const parentFacet = (run: number, tag: string): JsonObject => ({
  parent: facet({
    run: { runId: `${tag}-${run}` },
    job: { namespace: 'nightly', name: `${tag}.parent` }
  })
})

const jobContent = (
  { job, inputs, outputs, lineage, text, isStreaming }: JobEventParts,
  tag: string,
  at: number
): JsonObject => ({
  job: {
    namespace: 'nightly',
    name: `${tag}.job${job}`,
    facets: {
      ...(lineage ? { lineage: lineage(tag) } : {}),
      ...(text === null ? {} : { documentation: facet({ description: text }) }),
      ...(isStreaming === null
        ? {}
        : {
            jobType: facet({ processingType: isStreaming ? 'STREAMING' : 'BATCH', integration: 'SPARK' })
          })
    }
  },
  inputs: inputs.map((each) => each(tag, at)),
  outputs: outputs.map((each) => each(tag, at))
})

const anyEvent: fc.Arbitrary<RandomEvent> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        time,
        jobEventParts,
        fc.nat({ max: 2 }),
        fc.constantFrom('START', 'RUNNING', 'COMPLETE', 'FAIL', 'ABORT', 'OTHER'),
        fc.option(dependencies, { freq: 2 }),
        fc.option(fc.nat({ max: 3 }), { freq: 2 })
      )
      .map(
        ([at, parts, run, eventType, before, parent]) =>
          (tag: string) =>
            eventAt(at, {
              eventType,
              run: {
                runId: `${tag}-${run}`,
                facets: {
                  ...(before ? dependencyFacet(before, tag) : {}),
                  ...(parent === null ? {} : parentFacet(parent, tag))
                }
              },
              ...jobContent(parts, tag, at)
            })
      )
  },
  {
    weight: 2,
    arbitrary: fc.tuple(time, jobEventParts).map(
      ([at, parts]) =>
        (tag: string) =>
          eventAt(at, jobContent(parts, tag, at))
    )
  },
  {
    weight: 2,
    arbitrary: fc.tuple(time, anyDataset).map(
      ([at, dataset]) =>
        (tag: string) =>
          eventAt(at, { dataset: dataset(tag, at) })
    )
  }
)

/** What the first event says of `job0`, only as the input of another job, must still count once an event of `job0` itself comes. */
const jobKnownByName: RandomEvent[] = [
  (tag) => {
    const [job0, job1, job2] = ['job0', 'job1', 'job2'].map((name) => ({
      namespace: 'nightly',
      name: `${tag}.${name}`
    }))
    const lineage = facet({ entries: [{ ...job2, type: 'JOB', inputs: [{ ...job0, type: 'JOB' }] }] })
    return eventAt(0, {
      eventType: 'START',
      run: { runId: `${tag}-0` },
      job: { ...job1, facets: { lineage } }
    })
  },
  (tag) => {
    const [job0, job2] = ['job0', 'job2'].map((name) => ({ namespace: 'nightly', name: `${tag}.${name}` }))
    const lineage = facet({ entries: [{ ...job2, type: 'JOB', inputs: [{ ...job0, type: 'JOB' }] }] })
    return eventAt(1, { job: { ...job0, facets: { lineage } } })
  },
  (tag) =>
    eventAt(0, {
      eventType: 'START',
      run: { runId: `${tag}-1` },
      job: { namespace: 'nightly', name: `${tag}.job0` }
    })
]

const renamed = (tag: string, from: string, to: string): JsonObject => ({
  ...warehouse(to)(tag),
  facets: {
    lifecycleStateChange: facet({ lifecycleStateChange: 'RENAME', previousIdentifier: warehouse(from)(tag) })
  }
})
const madeFrom = (tag: string, name: string, input: string): JsonObject =>
  facet({
    entries: [
      { ...warehouse(name)(tag), type: 'DATASET', inputs: [{ ...warehouse(input)(tag), type: 'DATASET' }] }
    ]
  })

/** The last event opens the state of `was`, whose edge must stay at the present name of `step`. */
const renamedAtBothEnds: RandomEvent[] = [
  (tag) =>
    eventAt(1, {
      eventType: 'START',
      run: { runId: `${tag}-0` },
      job: { namespace: 'nightly', name: `${tag}.job0`, facets: { lineage: madeFrom(tag, 'was', 'step') } },
      outputs: [renamed(tag, 'step', 'step-renamed'), renamed(tag, 'was', 'is')]
    }),
  (tag) => eventAt(0, { dataset: warehouse('was')(tag) })
]

/** The job reads `is`, and the facet names the same dataset `was`: whether that is known before must not count. */
const inputUnderTwoNames: RandomEvent[] = [
  (tag) =>
    eventAt(1, {
      eventType: 'START',
      run: { runId: `${tag}-0` },
      job: { namespace: 'nightly', name: `${tag}.job0`, facets: { lineage: madeFrom(tag, 'out', 'was') } },
      inputs: [warehouse('is')(tag)]
    }),
  (tag) => eventAt(0, { dataset: renamed(tag, 'was', 'is') })
]

const examples = [
  { events: jobKnownByName, order: [], rest: [0, 2, 1], size: 1 },
  { events: renamedAtBothEnds, order: [], rest: [1, 0], size: 1 },
  { events: inputUnderTwoNames, order: [], rest: [1, 0], size: 1 }
]

/** An aspect whose last entry was taken away, a dataset that is back, a key: they say what an absent aspect says. */
const saysNothing = / \w+Key \{|(\{|, )("\w+": (\[\]|\{\}|false)(, )?)+\}$/

/** Owners and tags are sets: the order of their lists says nothing. */
function asSet(line: string): string {
  const [, head, document] = /^(.* (?:ownership|globalTags) )(\{.*\})$/.exec(line) ?? []
  if (head === undefined || document === undefined) return line
  const lists = Object.values<unknown>(JSON.parse(document)).filter((list) => Array.isArray(list))
  return (
    head +
    lists
      .map((list) =>
        list
          .map((each: unknown) => JSON.stringify(each))
          .sort()
          .join()
      )
      .join()
  )
}

const meaningOf = (content: readonly string[], tag: string): string[] =>
  content
    .filter((line) => !saysNothing.test(line))
    .map((line) => asSet(line.replaceAll(tag, '')))
    .sort()

t.test('events in any order, together or alone, once or twice, leave the same catalog', async (t) => {
  const { db } = await withDatabase(t)
  let cases = 0
  const play = async (
    events: readonly RandomEvent[],
    groups: readonly (readonly number[])[]
  ): Promise<string[]> => {
    const tag = `case${(cases += 1)}end`
    const afterId = await lastEntityId(db)
    for (const group of groups)
      await ingestEvents(
        db,
        group.flatMap((index) => {
          const event = events[index]
          return event ? [readEvent(event(tag))] : []
        }),
        call
      )
    return meaningOf(await contentFrom(db, afterId), tag)
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyEvent, { minLength: 1, maxLength: 8 }).chain((events) => {
        const each = events.map((_event, index) => index)
        return fc.record({
          events: fc.constant(events),
          order: fc.shuffledSubarray([...each, ...each], { minLength: 0, maxLength: each.length }),
          rest: fc.shuffledSubarray(each, { minLength: each.length }),
          size: fc.integer({ min: 1, max: 4 })
        })
      }),
      async ({ events, order, rest, size }) => {
        const expected = await play(
          events,
          events.map((_event, index) => [index])
        )
        const sequence = [...order, ...rest]
        const groups = Array.from({ length: Math.ceil(sequence.length / size) }, (_, at) =>
          sequence.slice(at * size, (at + 1) * size)
        )
        const found = await play(events, groups)
        if (isDeepStrictEqual(found, expected)) return
        throw new Error(
          [
            ...events.map((event) => JSON.stringify(event(''))),
            JSON.stringify(groups),
            ...expected.filter((line) => !found.includes(line)).map((line) => `- ${line}`),
            ...found.filter((line) => !expected.includes(line)).map((line) => `+ ${line}`)
          ].join('\n')
        )
      }
    ),
    { numRuns: casesOf(200), examples: examples.map((each): [typeof each] => [each]) }
  )
})
