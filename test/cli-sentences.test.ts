/** Loads, dry runs and undos in sentences: the words for every result, and those that a real server leads to. */
import t from 'tap'
import type { LoadView } from '../bin/client/load-view.ts'
import { countsSentence, findingsOf, snapshotSentences, sumSentence } from '../bin/load-sentences.ts'
import { counted } from '../bin/quantity.ts'
import { runCommand, type Outcome } from './support/run-command.ts'
import { withServer } from './support/server.ts'

const load = (
  [received, applied, unchanged, rejected]: readonly [number, number, number, number],
  more: Partial<LoadView> = {}
): LoadView => ({
  id: '0b8f2c1e',
  state: 'done',
  error: null,
  counts: { received, applied, unchanged, rejected },
  ...more
})

t.test('counts are told with the right plural, and nothing that is zero', async (t) => {
  const undo = { mode: 'undo', undoes: '77aa' }
  const stays = 'because something newer has changed or uses'
  for (const [view, sentence] of [
    [load([0, 0, 0, 0]), 'no records'],
    [load([1, 1, 0, 0]), '1 record applied'],
    [load([1_203, 1_203, 0, 0]), '1,203 records applied'],
    [load([3, 0, 3, 0]), '3 records unchanged'],
    [load([3, 1, 1, 1]), '1 record applied, 1 unchanged, 1 rejected'],
    [load([2, 0, 0, 2]), '2 records rejected'],
    [load([9, 3, 0, 0], { state: 'applying' }), '3 records applied, 6 waiting'],
    [load([9, 0, 0, 0], { state: 'receiving' }), '9 records waiting'],
    [load([1, 0, 0, 0], { state: 'cancelled' }), '1 record left out'],
    [load([4, 1, 0, 1], { state: 'failed' }), '1 record applied, 1 rejected, 2 left out'],
    [load([2, 2, 0, 0], { dryRun: true }), '2 records would be applied'],
    [
      load([3, 1, 1, 1], { dryRun: true }),
      '1 record would be applied, 1 would change nothing, 1 would be rejected'
    ],
    [load([3, 3, 0, 0], undo), '3 changes undone'],
    [load([2, 1, 1, 0], undo), `1 change undone, 1 stays, ${stays} it`],
    [load([5, 1, 3, 1], undo), `1 change undone, 3 stay, ${stays} them, 1 cannot be undone`],
    [load([2, 1, 1, 0], { ...undo, dryRun: true }), `1 change would be undone, 1 would stay, ${stays} it`],
    [load([0, 0, 0, 0], undo), 'no changes']
  ] as const)
    t.equal(countsSentence(view), sentence)
  t.equal(
    sumSentence({ received: 9, applied: 0, unchanged: 9, rejected: 0 }, true),
    '9 records would change nothing'
  )
})

const none = {
  edges: { added: 0, removed: 0 },
  columnEdges: { added: 0, removed: 0 },
  domains: { created: 0, deleted: 0, set: 0, unset: 0 },
  entities: { created: 0, deleted: 0, placeholders: 0, byType: [] },
  affected: { assets: { count: 0, urns: [] }, domains: { count: 0, urns: [] }, complete: true }
}
const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const found = (report: object, more: Partial<LoadView> = {}): string =>
  findingsOf(
    load([2, 1, 0, 1], { dryRun: true, report: { ...none, wouldFail: false, ...report }, ...more })
  ).sentences.join(' ')
const affects = (urns: readonly string[], more: object = {}): object => ({
  affected: { ...none.affected, assets: { count: urns.length, urns }, ...more }
})

t.test('a dry run tells what would change by the names of the things', async (t) => {
  for (const [report, sentence] of [
    [{}, 'Nothing would change.'],
    [{ edges: { added: 2, removed: 1 } }, '2 edges would be added, 1 removed.'],
    [{ edges: { added: 0, removed: 1 } }, '1 edge would be removed.'],
    [{ columnEdges: { added: 1, removed: 0 } }, '1 column edge would be added.'],
    [
      {
        entities: {
          ...none.entities,
          created: 4,
          byType: [
            { type: 'dataset', created: 2 },
            { type: 'dataJob', created: 1 },
            { type: 'domain', created: 1 }
          ]
        },
        domains: { ...none.domains, created: 1 }
      },
      '2 datasets, 1 data job and 1 domain would be created.'
    ],
    [
      { entities: { ...none.entities, deleted: 3 }, domains: { ...none.domains, deleted: 1 } },
      '1 domain and 2 other entities would be deleted.'
    ],
    [{ entities: { ...none.entities, deleted: 1 } }, '1 entity would be deleted.'],
    [{ entities: { ...none.entities, placeholders: 1 } }, '1 placeholder would be made for what is missing.'],
    [
      { domains: { ...none.domains, set: 1, unset: 2 } },
      '1 asset would be put into a domain; 2 assets would be taken out of their domains.'
    ],
    [{ domains: { ...none.domains, unset: 1 } }, '1 asset would be taken out of its domain.'],
    [
      { edges: { added: 2, removed: 0 }, ...affects(['a', 'b', 'c'].map(dataset)) },
      '2 edges would be added; 3 datasets are changed or downstream.'
    ],
    [
      affects([dataset('a'), 'urn:li:dashboard:(looker,1)', 'urn:li:mlModel:x'], {
        domains: { count: 1, urns: ['urn:li:domain:sales'] }
      }),
      '1 dataset, 1 dashboard and 1 ML model are changed or downstream, in 1 domain.'
    ],
    [affects([dataset('a')]), '1 dataset is changed or downstream.'],
    [
      affects([dataset('a')], { assets: { count: 1_234, urns: [dataset('a')] }, complete: false }),
      'At least 1,234 assets are changed or downstream.'
    ]
  ] as const)
    t.equal(found(report), sentence)
})

t.test('a dry run tells why the load would fail', async (t) => {
  t.equal(
    found({ wouldFail: true }, { atomic: true }),
    'Nothing would change. The load would fail: it is all or nothing, and 1 record would be rejected.'
  )
  t.match(found({ wouldFail: true }), /would fail: the snapshot would remove more .* --force\.$/)
})

t.test('what a server of another version says does no harm', async (t) => {
  for (const report of [
    null,
    'text',
    [],
    {},
    { edges: 3, entities: null, domains: [], affected: { assets: 7 } }
  ])
    t.ok(findingsOf(load([0, 0, 0, 0], { report })).listings.length === 0)
  t.strictSame(snapshotSentences(load([0, 0, 0, 0], { snapshot: { removed: 'many' } })), [])
})

t.test('a snapshot tells what its source no longer states', async (t) => {
  const after = (snapshot: object, more: Partial<LoadView> = {}): string[] =>
    snapshotSentences(load([5, 0, 5, 0], { mode: 'snapshot', source: 'nightly', snapshot, ...more }))
  const removed = (number: number, stated: number | null): object => ({
    sweep: 'done',
    stated,
    toRemove: number,
    kept: 0,
    removed: number
  })
  t.strictSame(after(removed(0, 6)), [])
  t.strictSame(after(removed(1, 6)), ['nightly no longer states 1 of its 6 edges.'])
  t.strictSame(after(removed(6, 6)), ['nightly no longer states any of its 6 edges.'])
  t.strictSame(after(removed(1, 1)), ['nightly no longer states its only edge.'])
  t.strictSame(after(removed(2, null)), ['nightly no longer states 2 edges.'])
  t.strictSame(after(removed(2, 6), { dryRun: true }), ['nightly would no longer state 2 of its 6 edges.'])
  t.strictSame(after({ sweep: 'removing', stated: 6, toRemove: 3, removed: 1 }, { state: 'applying' }), [
    'nightly no longer states 1 of its 6 edges; 2 more are to be removed.'
  ])
  t.match(after({ sweep: 'held', removed: 0 }), [/removes nothing, because a rejected record could name any/])
})

t.test('a noun has its plural', async (t) => {
  for (const [value, noun, text] of [
    [0, 'edge', '0 edges'],
    [1, 'entity', '1 entity'],
    [2, 'entity', '2 entities'],
    [2, 'ML primary key', '2 ML primary keys'],
    [1_000, 'query', '1,000 queries']
  ] as const)
    t.equal(counted(value, noun), text)
})

t.test('on a real server', async (t) => {
  const { url, token } = await withServer(t, { withWorker: true })
  const env = { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token }
  const load = (records: readonly object[], ...args: string[]): Promise<Outcome> =>
    runCommand(['load', '-', ...args], {
      env,
      input: records.map((record) => `${JSON.stringify(record)}\n`).join('')
    })
  const idIn = ({ out: [line = ''] }: Outcome): string => /[0-9a-f-]{36}/.exec(line)?.[0] ?? line
  const names = ['a', 'b', 'c']
  await load(names.map((name) => ({ op: 'upsertEntity', urn: dataset(name) })))
  await load([{ op: 'addEdge', upstreamUrn: dataset('b'), downstreamUrn: dataset('c') }])
  const edge = { upstreamUrn: dataset('a'), downstreamUrn: dataset('b') }

  t.test('a dry run tells what would change and what is downstream', async (t) => {
    t.match(await load([edge], '--dry-run'), {
      code: 0,
      out: [
        /^Dry run \S+ is done: 1 record would be applied in /,
        '  1 edge would be added; 2 datasets are changed or downstream.',
        '  Changed or downstream:',
        `    ${dataset('b')}`,
        `    ${dataset('c')}`
      ]
    })
    const { out } = await load([{ upstreamUrn: dataset('b'), downstreamUrn: dataset('c') }], '--dry-run')
    t.match(out, [/1 record would change nothing/, '  Nothing would change.'])
    t.equal(out.length, 2)
  })

  t.test('an undo tells of which load it undid how much, and what stays', async (t) => {
    const id = idIn(await load([edge, { op: 'upsertEntity', urn: dataset('d'), description: 'first' }]))
    await load([{ op: 'upsertEntity', urn: dataset('d'), description: 'newer' }])
    const dry = await runCommand(['load', 'undo', id, '--dry-run'], { env })
    t.match(
      dry.out[0],
      new RegExp(`^Dry run \\S+ of the undo of load ${id} is done: \\d changes? would be undone, `)
    )
    t.match(dry.out[1], /^ {2}1 edge would be removed; .*downstream\.$/)
    const undo = await runCommand(['load', 'undo', id], { env })
    t.match(undo, {
      code: 0,
      out: [
        new RegExp(
          `^Undo \\S+ of load ${id} is done: \\d changes? undone, 2 stay, because something newer has changed or uses them$`
        )
      ]
    })
    t.match(await runCommand(['load', 'undo', idIn(undo)], { env }), {
      code: 0,
      out: [new RegExp(`^Undo \\S+ of load ${idIn(undo)} is done: \\d changes? undone$`)]
    })
  })
})
