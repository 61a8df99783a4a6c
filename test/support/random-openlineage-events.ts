/**
 * Random OpenLineage events for tests of order: jobs and datasets, also under paths, tables and names before and after renames, whose facets
 * come and go.
 */
import type { JsonObject } from '../../shared/model/changes.ts'
import { fc } from './fast-check.ts'
import { eventAt, facet } from './openlineage.ts'

/** A random event; `tag` stands in every name, so that many cases are played in one database. */
export type RandomEvent = (tag: string) => JsonObject

/** Few times and names, so that events often meet: a tie, a name under its alias, a declaration that replaces another. */
const time = fc.constantFrom(0, 3, 6, 9, 12)
const datasetNumber = fc.nat({ max: 2 })
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

const tableOf = (number: number, tag: string): JsonObject => ({
  namespace: 'hive://h',
  name: `${tag}.t${number}`
})
export const warehouse =
  (name: string) =>
  (tag: string): JsonObject => ({
    namespace: 'postgres://h:5432',
    name: `${tag}.${name}`
  })

export const renameFrom = (name: string, tag: string): JsonObject => ({
  lifecycleStateChange: facet({ lifecycleStateChange: 'RENAME', previousIdentifier: warehouse(name)(tag) })
})

/** The name of a dataset. */
type RandomName = (tag: string) => JsonObject
type Names = fc.Arbitrary<RandomName>

const columnFacet = (names: Names) =>
  fc
    .dictionary(
      columnName,
      fc.array(fc.tuple(names, columnName, fc.constantFrom('IDENTITY', 'TRANSFORMATION')), {
        minLength: 1,
        maxLength: 2
      }),
      { maxKeys: 2 }
    )
    .chain((columns) =>
      fc.option(fc.tuple(names, columnName), { freq: 3 }).map((ofTable) => ({ columns, ofTable }))
    )
    .map(
      ({ columns, ofTable }) =>
        (tag: string): JsonObject =>
          facet({
            ...(ofTable ? { dataset: [{ ...ofTable[0](tag), field: ofTable[1] }] } : {}),
            fields: Object.fromEntries(
              Object.entries(columns).map(([column, inputs]) => [
                column,
                {
                  inputFields: inputs.map(([name, field, subtype]) => ({
                    ...name(tag),
                    field,
                    transformations: [{ type: 'DIRECT', subtype }]
                  }))
                }
              ])
            )
          })
    )

/** A dataset, the job of the event, or one of three jobs by its name. */
const lineageEnd = (names: Names) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: names.map((name) => (tag: string) => ({ ...name(tag), type: 'DATASET' }))
    },
    { weight: 1, arbitrary: fc.constant((): JsonObject => ({ type: 'JOB' })) },
    {
      weight: 2,
      arbitrary: fc.nat({ max: 2 }).map((number) => (tag: string) => ({
        namespace: 'nightly',
        name: `${tag}.job${number}`,
        type: 'JOB'
      }))
    }
  )
/** The facet `lineage` of a dataset; an empty list of inputs says that there is none. */
const lineageOfDataset = (names: Names) =>
  fc
    .record({
      inputs: fc.option(fc.array(lineageEnd(names), { maxLength: 2 })),
      columns: fc.dictionary(columnName, fc.array(fc.tuple(names, columnName), { maxLength: 2 }), {
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
                { inputs: from.map(([name, field]) => ({ ...name(tag), type: 'DATASET', field })) }
              ])
            )
          })
    )

const deleted: JsonObject = { _deleted: true }

/** What any dataset may say of itself and of its lineage, and no longer says in other events. */
type Facets = fc.Arbitrary<(tag: string) => JsonObject>
const commonFacets = (names: Names): Facets =>
  fc
    .record({
      columns: fc.option(columnFacet(names), { freq: 1 }),
      lineage: fc.option(lineageOfDataset(names), { freq: 1 }),
      text: fc.option(fc.constantFrom('one', 'two')),
      withdrawn: fc.subarray(['columnLineage', 'lineage'], { maxLength: 1 })
    })
    .map(({ columns, lineage, text, withdrawn }) => (tag) => ({
      ...(columns ? { columnLineage: columns(tag) } : {}),
      ...(lineage ? { lineage: lineage(tag) } : {}),
      ...(text === null ? {} : { documentation: facet({ description: text }) }),
      ...Object.fromEntries(withdrawn.map((name) => [name, deleted]))
    }))

/** `at` is the time of the event. */
type RandomDataset = (tag: string, at: number) => JsonObject
const plainDataset = (facets: Facets): fc.Arbitrary<RandomDataset> =>
  fc
    .record({
      number: datasetNumber,
      namespace,
      common: facets,
      fields: fc.option(fc.subarray(['x', 'y'])),
      owners: fc.option(fc.subarray(['team:data', 'ann'])),
      tags: fc.option(fc.subarray(['raw', 'pii'])),
      withdrawn: fc.subarray(['schema', 'ownership', 'lifecycleStateChange'], { maxLength: 1 }),
      state: fc.option(fc.constantFrom('CREATE', 'DROP'), { freq: 4 })
    })
    .map(({ number, namespace, common, fields, owners, tags, withdrawn, state }) => (tag) => ({
      ...named(number, tag),
      namespace,
      facets: {
        ...common(tag),
        ...(fields ? { schema: facet({ fields: fields.map((name) => ({ name, type: 'int' })) }) } : {}),
        ...(owners ? { ownership: facet({ owners: owners.map((name) => ({ name })) }) } : {}),
        ...(tags ? { tags: facet({ tags: tags.map((key) => ({ key, value: 'true' })) }) } : {}),
        ...(state === null ? {} : { lifecycleStateChange: facet({ lifecycleStateChange: state }) }),
        ...Object.fromEntries(withdrawn.map((name) => [name, deleted]))
      }
    }))
/** A path that is a table, and not always the same one: some events say so, and others do not know it. */
const pathDataset = (facets: Facets): fc.Arbitrary<RandomDataset> =>
  fc
    .tuple(fc.nat({ max: 1 }), fc.option(fc.nat({ max: 1 })), facets)
    .map(([number, table, common]) => (tag) => ({
      ...pathOf(number, tag),
      facets: {
        ...common(tag),
        ...(table === null
          ? {}
          : { symlinks: facet({ identifiers: [{ ...tableOf(table, tag), type: 'TABLE' }] }) })
      }
    }))
/** The tables of paths, by their own names. */
const tableDataset = (facets: Facets): fc.Arbitrary<RandomDataset> =>
  fc
    .tuple(fc.nat({ max: 1 }), facets)
    .map(([number, common]) => (tag) => ({ ...tableOf(number, tag), facets: common(tag) }))
/** Tables that are renamed: some events say so, and others know the former name only. */
const renamedDataset = (facets: Facets): fc.Arbitrary<RandomDataset> =>
  fc.tuple(fc.constantFrom('was', 'is'), fc.boolean(), facets).map(([name, isRenamed, common]) => (tag) => ({
    ...warehouse(name)(tag),
    facets: {
      ...common(tag),
      ...(isRenamed && name === 'is' ? renameFrom('was', tag) : {})
    }
  }))
/** A table that is renamed twice, the second time later: some events say so, and others know one of its names only. */
const twiceRenamedDataset = (facets: Facets): fc.Arbitrary<RandomDataset> =>
  fc.tuple(fc.nat({ max: 2 }), fc.boolean(), facets).map(([step, isRenamed, common]) => (tag, at) => ({
    ...warehouse(`step${step}`)(tag),
    facets: {
      ...common(tag),
      ...(isRenamed && ((step === 1 && at < 6) || (step === 2 && at > 6))
        ? renameFrom(`step${step - 1}`, tag)
        : {})
    }
  }))
/** Datasets of one kind: their names alone, and as events describe them. */
type Kind = { names: Names; dataset: (facets: Facets) => fc.Arbitrary<RandomDataset> }
const plain: Kind = {
  names: datasetNumber.map((number) => (tag) => named(number, tag)),
  dataset: plainDataset
}
const path: Kind = {
  names: fc.nat({ max: 1 }).map((number) => (tag) => pathOf(number, tag)),
  dataset: pathDataset
}
const table: Kind = {
  names: fc.nat({ max: 1 }).map((number) => (tag) => tableOf(number, tag)),
  dataset: tableDataset
}
const renamedOnce: Kind = { names: fc.constantFrom('was', 'is').map(warehouse), dataset: renamedDataset }
const renamedTwice: Kind = {
  names: fc.constantFrom('step0', 'step1', 'step2').map(warehouse),
  dataset: twiceRenamedDataset
}

const lineageFacet = (names: Names) =>
  fc
    .array(fc.tuple(lineageEnd(names), fc.array(lineageEnd(names), { maxLength: 2 })), {
      minLength: 1,
      maxLength: 2
    })
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

const jobEventParts = (names: Names, dataset: fc.Arbitrary<RandomDataset>) =>
  fc.record({
    job: fc.constantFrom(0, 0, 0, 1),
    inputs: fc.array(dataset, { maxLength: 2 }),
    outputs: fc.array(dataset, { maxLength: 2 }),
    lineage: fc.option(lineageFacet(names), { freq: 2 }),
    text: fc.option(fc.constantFrom('one', 'two')),
    isStreaming: fc.option(fc.boolean(), { freq: 2 })
  })
type JobEventParts = ReturnType<typeof jobEventParts> extends fc.Arbitrary<infer Parts> ? Parts : never

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

/** Events about datasets of these kinds. */
function eventsAbout(kinds: readonly Kind[]): fc.Arbitrary<RandomEvent> {
  const names = fc.oneof(...kinds.map((kind) => kind.names))
  const facets = commonFacets(names)
  const dataset = fc.oneof(...kinds.map((kind) => kind.dataset(facets)))
  const parts = jobEventParts(names, dataset)
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          time,
          parts,
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
      weight: 3,
      arbitrary: fc.tuple(time, parts).map(
        ([at, parts]) =>
          (tag: string) =>
            eventAt(at, jobContent(parts, tag, at))
      )
    },
    {
      weight: 2,
      arbitrary: fc.tuple(time, dataset).map(
        ([at, dataset]) =>
          (tag: string) =>
            eventAt(at, { dataset: dataset(tag, at) })
      )
    }
  )
}

const mixed = eventsAbout([plain, path, table, renamedOnce, renamedTwice])
const about = [[renamedOnce], [renamedTwice], [path, table]].map(eventsAbout)

/** In half of the cases all events are about the few names of one kind, which would seldom meet otherwise. */
export const randomEvents: fc.Arbitrary<RandomEvent[]> = fc.oneof(
  { weight: about.length, arbitrary: fc.array(mixed, { minLength: 1, maxLength: 8 }) },
  ...about.map((events) => ({ weight: 1, arbitrary: fc.array(events, { minLength: 4, maxLength: 8 }) }))
)
