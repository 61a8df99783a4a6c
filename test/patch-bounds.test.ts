/**
 * A small patch cannot make a large document or take long: it is refused by name through every interface, and
 * a load continues.
 */
import t from 'tap'
import { limits } from '../shared/limits.ts'
import { applyPatch } from '../shared/model/json-patch.ts'
import { parsePatch } from '../shared/model/patch-document.ts'
import type { JsonObject, PatchOperation } from '../shared/model/changes.ts'
import {
  apply,
  applyAsChunk,
  create,
  dataset,
  endLoad,
  openLoad,
  patch,
  record,
  segment,
  upsert,
  upstream,
  valueOf
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { withServer, type RestAnswer } from './support/server.ts'

const exceeds = (limit: keyof typeof limits) => ({
  code: 'LIMIT_EXCEEDED',
  details: { limit, maximum: limits[limit] }
})
const times = <Value>(count: number, value: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => value(index))

const doubling = times(40, (): PatchOperation => ({ op: 'copy', from: '/a', path: '/a/0' }))
const wide = (count: number): JsonObject => ({ a: times(count, (index) => index) })

/** Each has a few kilobytes. */
const attacks: readonly [
  name: string,
  document: JsonObject,
  patch: PatchOperation[],
  limit: keyof typeof limits
][] = [
  ['a document that each operation doubles', { a: ['x'] }, doubling, 'patchValuesMaxCount'],
  [
    'a document that each operation doubles in width',
    { a: { x: 'x'.repeat(1000) } },
    times(40, (index) => ({ op: 'copy', from: '', path: `/a${index}` })),
    'aspectMaxBytes'
  ],
  [
    'a list that grows by copies of a large entry',
    { a: 'x'.repeat(1_000_000), b: [] },
    times(40, () => ({ op: 'copy', from: '/a', path: '/b/-' })),
    'aspectMaxBytes'
  ],
  [
    'copies over one another',
    wide(100_000),
    times(40, () => ({ op: 'copy', from: '/a', path: '/b' })),
    'patchValuesMaxCount'
  ],
  [
    'moves that nest',
    { a: {} },
    times(100, (index) => ({
      op: 'move',
      from: index % 2 === 0 ? '/a' : '/b',
      path: `${index % 2 === 0 ? '/b' : '/a'}/x/x/x/x`
    })),
    'jsonMaxDepth'
  ],
  [
    'tests of a large value',
    wide(100_000),
    times(40, () => ({ op: 'test', path: '', value: {} })),
    'patchValuesMaxCount'
  ],
  [
    'entries put before a long list',
    wide(500_000),
    times(2_000, () => ({ op: 'add', path: '/a/0', value: 0 })),
    'patchValuesMaxCount'
  ],
  [
    'entries taken from before a long list',
    wide(500_000),
    times(2_000, () => ({ op: 'remove', path: '/a/0' })),
    'patchValuesMaxCount'
  ]
]

t.test('a patch', async (t) => {
  for (const [name, document, operations, limit] of attacks) {
    t.test(`${name} is refused`, async (t) => {
      // A `test` that fails ends the patch. This measures the cost until then.
      const lenient = operations.map((operation) =>
        operation.op === 'test' ? { ...operation, value: document } : operation
      )
      t.throws(() => applyPatch('moonPhase', document, { patch: lenient }), exceeds(limit))
    })
  }

  t.test('is accepted if it does much but stays within the limits', async (t) => {
    const large = wide(100_000)
    t.strictSame(applyPatch('moonPhase', large, { patch: [{ op: 'copy', from: '/a', path: '/b' }] }), {
      ...large,
      b: large.a
    })
    const tags = times(5_000, (index): PatchOperation => ({
      op: 'add',
      path: `/tags/urn:li:tag:${index}`,
      value: { tag: `urn:li:tag:${index}` }
    }))
    t.equal((applyPatch('globalTags', null, { patch: tags }).tags as unknown[]).length, 5_000)
    const swapped = times(20, (): PatchOperation[] => [
      { op: 'copy', from: '/x', path: '/y' },
      { op: 'remove', path: '/y' }
    ]).flat()
    t.ok(
      applyPatch('moonPhase', { x: 'x'.repeat(1_500_000) }, { patch: swapped }),
      'what was taken away does not count'
    )
  })

  t.test('that names the tags of many fields of a wide table costs what it names', async (t) => {
    const fields = times(5_000, (index) => ({ fieldPath: `f${index}`, globalTags: { tags: [] } }))
    const operations = times(2_000, (index): PatchOperation => ({
      op: 'add',
      path: `/editableSchemaFieldInfo/f${index}/globalTags/tags/urn:li:tag:x`,
      value: { tag: 'urn:li:tag:x' }
    }))
    const patched = applyPatch(
      'editableSchemaMetadata',
      { editableSchemaFieldInfo: fields },
      { patch: operations }
    ).editableSchemaFieldInfo as JsonObject[]
    t.strictSame(patched[1_999], { fieldPath: 'f1999', globalTags: { tags: [{ tag: 'urn:li:tag:x' }] } })
    const whole = applyPatch(
      'editableSchemaMetadata',
      { editableSchemaFieldInfo: fields },
      {
        patch: [
          {
            op: 'add',
            path: '/editableSchemaFieldInfo/f1/globalTags',
            value: { tags: [{ tag: 'urn:li:tag:y' }] }
          },
          {
            op: 'add',
            path: '/editableSchemaFieldInfo/f1/globalTags/tags/urn:li:tag:x',
            value: { tag: 'urn:li:tag:x' }
          }
        ]
      }
    ).editableSchemaFieldInfo as JsonObject[]
    t.strictSame(whole[1], {
      fieldPath: 'f1',
      globalTags: { tags: [{ tag: 'urn:li:tag:y' }, { tag: 'urn:li:tag:x' }] }
    })
  })

  t.test('may name keys for a few arrays, and a few keys for each', async (t) => {
    const parse = (arrayPrimaryKeys: JsonObject) => parsePatch({ arrayPrimaryKeys, patch: [] }, 'aspect')
    const most = limits.patchKeysMaxCount
    t.ok(parse({ list: times(most, (index) => `k${index}`) }))
    t.throws(() => parse({ list: times(most + 1, (index) => `k${index}`) }), exceeds('patchKeysMaxCount'))
    t.throws(
      () => parse(Object.fromEntries(times(most + 1, (index) => [`l${index}`, ['id']]))),
      exceeds('patchKeysMaxCount')
    )
    t.throws(() => parse({ list: [times(most + 1, () => 'a').join('\u241f')] }), exceeds('patchKeysMaxCount'))
  })
})

t.test('a stored patch that would make too much of what a late change leaves has no effect', async (t) => {
  const { db } = await withDatabase(t)
  const a = dataset('a')
  const late = await openLoad(db)
  const copies = times(20, (index): PatchOperation => ({ op: 'copy', from: '/a', path: `/b${index}` }))
  await apply(db, upsert(a, 'moonPhase', { a: 'small' }))
  await apply(
    db,
    patch(a, 'starPhase', { op: 'add', path: '/a', value: 'small' }, { op: 'add', path: '/b', value: 'new' })
  )
  await apply(
    db,
    patch(a, 'starPhase', { op: 'copy', from: '', path: '/b' }),
    patch(a, 'starPhase', ...copies)
  )
  t.match(
    (await applyAsChunk(db, late, [record(1, upsert(a, 'starPhase', { big: 'x'.repeat(2_100_000) }))])).map(
      ({ outcome }) => outcome
    ),
    ['applied']
  )
  const value = (await valueOf(db, a, 'starPhase')) as JsonObject
  t.strictSame(
    [Object.keys(value).sort(), value.a, value.b],
    [['a', 'b', 'big'], 'small', 'new'],
    'the copy of the large document is left out'
  )
  await endLoad(db, late)
})

t.test('through every door', async (t) => {
  const server = await withServer(t, { withWorker: true, env: { MISSING_REFERENCES: 'create' } })
  const { db, rest } = server
  const a = dataset('a')
  const grown: JsonObject = { a: 'x'.repeat(900_000) }
  const growing = times(40, (index): PatchOperation => ({ op: 'copy', from: '/a', path: `/b${index}` }))
  const proposal = (
    aspectName: string,
    operations: readonly PatchOperation[],
    entityUrn: string = a
  ): JsonObject => ({
    entityType: 'dataset',
    entityUrn,
    changeType: 'PATCH',
    aspectName,
    aspect: { value: JSON.stringify(operations), contentType: 'application/json-patch+json' }
  })
  const load = async (records: readonly JsonObject[]): Promise<RestAnswer> => {
    let answer = await rest({
      method: 'POST',
      url: '/loads?format=ndjson&wait=25',
      headers: { 'content-type': 'application/x-ndjson' },
      body: records.map((each) => JSON.stringify(each)).join('\n')
    })
    while (answer.status < 300 && answer.body.state !== 'done' && answer.body.state !== 'failed')
      answer = await rest({ url: `/loads/${answer.body.id}?wait=25` })
    return answer
  }
  const rejectsOf = async (id: string): Promise<JsonObject[]> =>
    (await rest({ url: `/loads/${id}/rejects` })).text
      .split('\n')
      .filter(Boolean)
      .map((line): JsonObject => JSON.parse(line))
  await apply(db, upsert(a, 'moonPhase', grown))

  t.test('a patch that makes too much is refused, and changes nothing', async (t) => {
    for (const [name, request] of [
      [
        'RestLi',
        {
          method: 'POST',
          url: '/aspects?action=ingestProposal',
          body: { proposal: proposal('moonPhase', growing) }
        }
      ],
      [
        'OpenAPI v3',
        {
          method: 'PATCH',
          url: '/openapi/v3/entity/dataset?async=false',
          body: [{ urn: a, moonPhase: { value: { patch: growing } } }]
        }
      ],
      [
        'OpenAPI v3, one aspect',
        {
          method: 'PATCH',
          url: `/openapi/v3/entity/dataset/${encodeURIComponent(a)}/moonPhase`,
          body: { patch: growing }
        }
      ]
    ] as const) {
      const answer = await rest(request)
      t.equal(answer.status, 400, name)
      t.match(answer.text, /larger than 4194304 bytes/, name)
    }
    t.strictSame(await valueOf(db, a, 'moonPhase'), grown)
  })

  t.test('a record of a load that makes too much is a reject, and the others are applied', async (t) => {
    const { body } = await load([
      proposal('moonPhase', growing),
      proposal('sunPhase', [{ op: 'add', path: '/x', value: 1 }])
    ])
    t.match(body, { state: 'done', counts: { applied: 1, rejected: 1 } })
    t.match(await rejectsOf(body.id), [{ line: 1, code: 'LIMIT_EXCEEDED' }])
    const asynchronous = await rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: { proposal: proposal('moonPhase', growing), async: 'true' }
    })
    t.ok(asynchronous.status < 300)
    t.strictSame(await valueOf(db, a, 'moonPhase'), grown)
  })

  t.test(
    'patches that are too much only together are refused in a call, and applied in a load',
    async (t) => {
      const wideOne = dataset('wide')
      await apply(db, upsert(wideOne, 'moonPhase', wide(90_000)))
      const patches = times(30, (index) =>
        proposal('moonPhase', [{ op: 'add', path: `/k${index}`, value: index }], wideOne)
      )
      const call = await rest({
        method: 'POST',
        url: '/aspects?action=ingestProposalBatch',
        body: { proposals: patches }
      })
      t.equal(call.status, 400)
      t.match(call.text, /send fewer in one call/)
      t.match((await load(patches)).body, { state: 'done', counts: { applied: 30, rejected: 0 } })
      t.match(await valueOf(db, wideOne, 'moonPhase'), { k0: 0, k29: 29 })
    }
  )

  t.test('the attributes of an edge can be patched a limited number of times', async (t) => {
    const [down, up] = [dataset('down'), dataset('up')]
    await apply(db, ...create(down, up))
    await apply(db, upsert(down, 'upstreamLineage', { upstreams: [upstream(up)] }))
    const set = (index: number): PatchOperation => ({
      op: 'add',
      path: `/upstreams/${segment(up)}/properties/k${index}`,
      value: 'v'
    })
    await apply(
      db,
      patch(
        down,
        'upstreamLineage',
        { op: 'add', path: `/upstreams/${segment(up)}/properties`, value: {} },
        ...times(limits.patchesPerEdgeMaxCount - 1, set)
      )
    )
    await t.rejects(
      apply(db, patch(down, 'upstreamLineage', set(limits.patchesPerEdgeMaxCount))),
      exceeds('patchesPerEdgeMaxCount')
    )
    t.match(await valueOf(db, down, 'upstreamLineage'), {
      upstreams: [{ properties: { k0: 'v', [`k${limits.patchesPerEdgeMaxCount - 2}`]: 'v' } }]
    })
  })
})
