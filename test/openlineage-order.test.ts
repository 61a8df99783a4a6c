/** OpenLineage events say the same in whatever order they come, one by one or together, once or twice. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { ingestEvents, readEvent } from '../shared/catalog/openlineage/ingest-events.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { somebody } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { fc, casesOf } from './support/fast-check.ts'
import { contentFrom, eventAt, facet, lastEntityId } from './support/openlineage.ts'
import { randomEvents, renameFrom, warehouse, type RandomEvent } from './support/random-openlineage-events.ts'

const call = { actor: somebody, requestId: null }

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
  facets: renameFrom(from, tag)
})
const madeFrom = (tag: string, ...entries: [name: string, input: string][]): JsonObject =>
  facet({
    entries: entries.map(([name, input]) => ({
      ...warehouse(name)(tag),
      type: 'DATASET',
      inputs: [{ ...warehouse(input)(tag), type: 'DATASET' }]
    }))
  })

/** The last event opens the state of `was`, whose edge must stay at the present name of `step`. */
const renamedAtBothEnds: RandomEvent[] = [
  (tag) =>
    eventAt(1, {
      eventType: 'START',
      run: { runId: `${tag}-0` },
      job: { namespace: 'nightly', name: `${tag}.job0`, facets: { lineage: madeFrom(tag, ['was', 'step']) } },
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
      job: { namespace: 'nightly', name: `${tag}.job0`, facets: { lineage: madeFrom(tag, ['out', 'was']) } },
      inputs: [warehouse('is')(tag)]
    }),
  (tag) => eventAt(0, { dataset: renamed(tag, 'was', 'is') })
]

const madeBy = (tag: string, at: number, job: string): JsonObject =>
  eventAt(at, {
    dataset: {
      ...warehouse('was')(tag),
      facets: {
        lineage: facet({ inputs: [{ namespace: 'nightly', name: `${tag}.${job}`, type: 'JOB' }] })
      }
    }
  })
const declares = (tag: string, at: number, ...entries: [name: string, input: string][]): JsonObject =>
  eventAt(at, {
    job: { namespace: 'nightly', name: `${tag}.job0`, facets: { lineage: madeFrom(tag, ...entries) } }
  })

/** The job declares `was`, and later `is` instead: the later declaration counts, though it also says that `was` has ended. */
const declaredUnderTwoNames: RandomEvent[] = [
  (tag) => eventAt(0, { dataset: renamed(tag, 'was', 'is') }),
  (tag) => declares(tag, 1, ['was', 'first']),
  (tag) => declares(tag, 2, ['is', 'second'])
]

/** Of two declarations of one time, the same one counts for both of its datasets, though what the other said of `was` has moved to `is`. */
const declaredAgainAtOneTime: RandomEvent[] = [
  (tag) => eventAt(0, { dataset: renamed(tag, 'was', 'is') }),
  (tag) => declares(tag, 1, ['also', 'a'], ['was', 'z']),
  (tag) => declares(tag, 1, ['also', 'z'], ['was', 'a'])
]

/** Both the rename and the end of the declaration come after what was declared under `was` moved to `is`: the end counts. */
const endedWithSecondRename: RandomEvent[] = [
  (tag) => eventAt(0, { dataset: renamed(tag, 'was', 'is') }),
  (tag) => declares(tag, 1, ['was', 'first']),
  (tag) =>
    eventAt(2, {
      job: { namespace: 'nightly', name: `${tag}.job0` },
      outputs: [renamed(tag, 'is', 'now'), warehouse('was')(tag)]
    })
]

/** The dataset says under its former name which job makes it: an older event must not win, though the newer was moved to `is`. */
const jobDeclaredByFormerName: RandomEvent[] = [
  (tag) => eventAt(0, { dataset: renamed(tag, 'was', 'is') }),
  (tag) => madeBy(tag, 1, 'job0'),
  (tag) => madeBy(tag, 2, 'job1')
]

const lifecycle = (tag: string, at: number, lifecycleStateChange: string): JsonObject =>
  eventAt(at, {
    dataset: {
      ...warehouse('was')(tag),
      facets: { lifecycleStateChange: facet({ lifecycleStateChange }) }
    }
  })
const runWith = (tag: string, at: number, more: JsonObject, facets: JsonObject = {}): JsonObject =>
  eventAt(at, {
    eventType: 'COMPLETE',
    run: { runId: `${tag}-${at}` },
    job: { namespace: 'nightly', name: `${tag}.job0`, facets },
    ...more
  })

/** What older events say of a dataset that was dropped since does not bring it back. */
const describedBeforeDrop: RandomEvent[] = [
  (tag) => runWith(tag, 4, { inputs: [warehouse('was')(tag)] }),
  (tag) =>
    runWith(tag, 5, {
      inputs: [
        { ...warehouse('was')(tag), facets: { schema: facet({ fields: [{ name: 'id', type: 'int' }] }) } }
      ]
    }),
  (tag) =>
    eventAt(6, {
      dataset: {
        ...warehouse('was')(tag),
        facets: { documentation: facet({ description: 'of old' }), tags: facet({ tags: [{ key: 'pii' }] }) }
      }
    }),
  (tag) => lifecycle(tag, 10, 'DROP')
]

/** A run writes what only the facet `lineage` of its job names. */
const writtenByFacet: RandomEvent[] = [
  (tag) => lifecycle(tag, 5, 'DROP'),
  (tag) => runWith(tag, 6, { outputs: [] }, { lineage: madeFrom(tag, ['was', 'first']) })
]

const examples = [
  { events: describedBeforeDrop, order: [], rest: [3, 0, 1, 2], size: 1 },
  { events: describedBeforeDrop, order: [], rest: [2, 3, 1, 0], size: 2 },
  { events: writtenByFacet, order: [], rest: [1, 0], size: 1 },
  { events: writtenByFacet, order: [], rest: [1, 0], size: 2 },
  { events: jobKnownByName, order: [], rest: [0, 2, 1], size: 1 },
  { events: renamedAtBothEnds, order: [], rest: [1, 0], size: 1 },
  { events: inputUnderTwoNames, order: [], rest: [1, 0], size: 1 },
  { events: declaredUnderTwoNames, order: [], rest: [0, 2, 1], size: 1 },
  { events: declaredAgainAtOneTime, order: [], rest: [0, 2, 1], size: 1 },
  { events: endedWithSecondRename, order: [], rest: [2, 0, 1], size: 1 },
  { events: jobDeclaredByFormerName, order: [], rest: [1, 2, 0], size: 1 }
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
      randomEvents.chain((events) => {
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
    { numRuns: casesOf(150), examples: examples.map((each): [typeof each] => [each]) }
  )
})
