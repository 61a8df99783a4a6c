/**
 * Limits of the work of one request, and how heavy reads share the API: bounded answers, few at once, turns
 * for every token.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { textsOf, writeAnswer } from '../api/graphql/write-answer.ts'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { createReadGate } from '../shared/catalog/lineage/read-gate.ts'
import { createReadWork } from '../shared/catalog/lineage/read-work.ts'
import { limits } from '../shared/limits.ts'
import { aliased, overGraphql } from './abuse/attack.ts'
import { assetUrn, domainUrn, sizes } from './abuse/catalog.ts'
import { heavyReads } from './abuse/heavy-reads.ts'
import { addEdge, asCall, create, createDomain, record } from './support/changes.ts'
import { fc } from './support/fast-check.ts'
import { withServer, type TestServer } from './support/server.ts'

t.test('a gate', async (t) => {
  t.test('admits a limited number at once, and the next one when one has left', async (t) => {
    const gate = createReadGate({ atOnce: 2 })
    const [first] = [await gate.enter('a'), await gate.enter('a')]
    const entered: string[] = []
    const [third, fourth] = ['third', 'fourth'].map((name) =>
      gate.enter('a').then((leave) => {
        entered.push(name)
        return leave
      })
    )
    await nextTurn()
    t.strictSame(entered, [])
    first()
    first()
    const leaveThird = await third
    await nextTurn()
    t.strictSame(entered, ['third'], 'who leaves twice lets in one')
    leaveThird?.()
    ;(await fourth)?.()
    t.strictSame(entered, ['third', 'fourth'])
  })

  t.test('lets callers in by turns, whoever has more waiting', async (t) => {
    const gate = createReadGate({ atOnce: 1 })
    const order: string[] = []
    const leave = await gate.enter('a')
    const reads = ['a', 'a', 'a', 'b', 'b', 'c'].map(async (caller) => {
      const end = await gate.enter(caller)
      order.push(caller)
      end()
    })
    leave()
    await Promise.all(reads)
    t.strictSame(order, ['a', 'b', 'c', 'a', 'b', 'a'])
  })

  t.test(
    'refuses a caller with too many waiting reads, and everybody if there are too many in all',
    async (t) => {
      const gate = createReadGate({ atOnce: 1, waitingPerCallerMaxCount: 2, waitingMaxCount: 3 })
      const leave = await gate.enter('a')
      const waiting = ['a', 'a', 'b'].map(async (caller) => (await gate.enter(caller))())
      await t.rejects(gate.enter('a'), {
        code: 'RATE_LIMITED',
        details: { limit: 'heavyReadsWaitingPerTokenMaxCount', retryAfterSeconds: 1 }
      })
      await t.rejects(gate.enter('c'), {
        code: 'OVERLOADED',
        details: { limit: 'heavyReadsWaitingMaxCount' }
      })
      leave()
      await Promise.all(waiting)
      ;(await gate.enter('a'))()
    }
  )

  t.test('no caller waits longer than allowed, and no place is kept for callers that gave up', async (t) => {
    const gate = createReadGate({ atOnce: 1, waitMaxMs: 1 })
    const leave = await gate.enter('a')
    await t.rejects(gate.enter('a'), { code: 'OVERLOADED', details: { limit: 'heavyReadWaitMaxMs' } })
    leave()
    ;(await gate.enter('b'))()
  })
})

t.test('the budget of work', async (t) => {
  const open = () => createReadWork(createReadGate({ atOnce: 100 }), 'a')

  t.test('lets the reads of one request run one after the other, also after one that fails', async (t) => {
    const work = open()
    let running = 0
    const read = async (fails: boolean) =>
      work.run(1, async () => {
        running += 1
        t.equal(running, 1)
        await nextTurn()
        running -= 1
        if (fails) throw new Error('a read failed')
        return 'read'
      })
    t.match(await Promise.allSettled([read(false), read(true), read(false)]), [
      { value: 'read' },
      { status: 'rejected' },
      { value: 'read' }
    ])
  })

  t.test('runs none of several reads that together cost too much', async (t) => {
    const work = open()
    let ran = 0
    const read = async () => {
      ran += 1
    }
    const tooMuch = {
      code: 'QUERY_TOO_COMPLEX',
      details: { limit: 'readWorkMaxUnits', actual: limits.readWorkMaxUnits + 1 }
    }
    const [first, second] = [work.run(limits.readWorkMaxUnits, read), work.run(1, read)]
    await Promise.all([t.rejects(first, tooMuch), t.rejects(second, tooMuch)])
    t.equal(ran, 0)
    const enough = open()
    await enough.run(limits.readWorkMaxUnits, read)
    t.equal(ran, 1)
  })
})

t.test('an answer written in pieces is the text that JSON.stringify gives', async (t) => {
  fc.assert(fc.property(fc.jsonValue(), (value) => [...textsOf(value)].join('') === JSON.stringify(value)))
  const large = {
    list: Array.from({ length: 1_000 }, (_, id) => ({ id, none: undefined, in: [[id], {}, '"'] }))
  }
  t.equal([...textsOf(large)].join(''), JSON.stringify(large))
  t.ok(
    [...textsOf(large)].every((text) => text.length < 1_000),
    'in small parts'
  )
  const value = {
    data: {
      none: undefined,
      list: Array.from({ length: 20_000 }, (_, index) => ({ index, text: `"${index}"` }))
    }
  }
  const text = JSON.stringify(value)
  t.equal(writeAnswer(value, 0), text)
  const written = writeAnswer(value, text.length)
  t.ok(typeof written !== 'string')
  let turns = 0
  let isRead = false
  const countTurns = (): void => {
    turns += 1
    if (!isRead) setImmediate(countTurns)
  }
  countTurns()
  let read = ''
  if (typeof written !== 'string')
    for await (const piece of written.setEncoding('utf8')) read += String(piece)
  isRead = true
  t.equal(read, text)
  t.ok(turns > text.length / 100_000, `others have ${turns} turns`)
})

t.test('of a server', async (t) => {
  const server = await withServer(t)
  await fill(server)
  const reasonsOf = (body: { errors?: { extensions?: { reason?: string } }[] }) => [
    ...new Set((body.errors ?? []).map(({ extensions }) => extensions?.reason))
  ]

  for (const attack of heavyReads) {
    t.test(`${attack.name} is answered as expected`, async (t) => {
      const { query, variables } = JSON.parse(String(attack.body(0)))
      const { status, body } = await server.graphql(query, variables)
      const allowed = attack.expected.map(({ reason }) => reason)
      t.equal(status, 200)
      t.ok(
        reasonsOf(body).length === 0
          ? allowed.includes(null)
          : reasonsOf(body).every((reason) => allowed.includes(reason ?? '')),
        JSON.stringify(body).slice(0, 300)
      )
    })
  }

  t.test('an answer that passes its budget has one error and no data', async (t) => {
    const nested =
      '{ parentDomains { domains { ... on Domain { parentDomains { domains { ... on Domain { parentDomains { domains { urn } } } } } } } } }'
    const { body } = await server.graphql(
      `{ domain(urn: ${JSON.stringify(domainUrn(sizes.domains - 1))}) { ${aliased(10, () => `ownership { owners { associatedUrn } } parentDomains { domains { ... on Domain ${nested} } }`)} } }`
    )
    t.notOk(body.data)
    t.match(body.errors, [{ extensions: { reason: 'QUERY_TOO_COMPLEX' } }])
    t.equal(body.errors.length, 1)
  })

  t.test('a refusal says the cost and the limit, whichever limit it is', async (t) => {
    const page = (inner: string): string =>
      `searchAcrossLineage(input: { urn: "${assetUrn(0)}", direction: DOWNSTREAM, count: 10000 }) { searchResults { entity { ... on Dataset { ${inner} } } } }`
    const relationships = 'relationships { entity { urn type } }'
    const refused: { readonly [limit: string]: string } = {
      graphqlMaxAliases: `{ ${aliased(limits.graphqlMaxAliases + 1, () => '__typename')} }`,
      graphqlMaxTokens: `{ ${'__typename '.repeat(limits.graphqlMaxTokens)} }`,
      graphqlMaxDepth: `{ domain(urn: "x") { ${'parentDomains { domains { ... on Domain { '.repeat(10)}urn${' } } }'.repeat(10)} } }`,
      graphqlMaxEstimatedFields: `{ ${page(`lineage(input: { direction: DOWNSTREAM, count: 10000 }) { ${relationships} }`)} }`,
      graphqlMaxReads: `query ($urns: [String!]!) { ${aliased(12, () => 'entities(urns: $urns) { ... on Dataset { ownership { owners { associatedUrn } } } }')} }`,
      readWorkMaxUnits: `{ ${aliased(30, (index) => `searchAcrossEntities(input: { query: "area ${index}", sortInput: { sortCriterion: { field: "name", sortOrder: DESCENDING } } }) { facets { field } }`)} }`
    }
    const urns = Array.from({ length: 10_000 }, (_, index) => assetUrn(index))
    for (const [limit, query] of Object.entries(refused)) {
      const { body } = await server.graphql(query, query.includes('$urns') ? { urns } : {})
      const { extensions, message } = body.errors[0]
      t.match(
        extensions,
        { reason: /^QUERY_TOO_/, limit, maximum: limits[limit as keyof typeof limits] },
        limit
      )
      t.ok(extensions.actual > extensions.maximum, `${limit}: ${extensions.actual}`)
      t.match(message, String(extensions.maximum), limit)
    }
  })

  t.test('introspection has the same budget', async (t) => {
    const types = aliased(limits.graphqlMaxAliases - 10, () => 'type { kind name }')
    const { body } = await server.graphql(
      `{ __schema { types { ${aliased(10, () => 'fields { ...types }')} } } } fragment types on __Field { ${types} }`
    )
    t.match(body.errors, [{ extensions: { reason: 'QUERY_TOO_COMPLEX' } }])
  })

  t.test('a long page is whole and in order, and others have their turn while it is made', async (t) => {
    let turns = 0
    let isDone = false
    const counting = (async () => {
      for (; !isDone; turns += 1) await nextTurn()
    })()
    const { body } = await server.graphql(
      `{ searchAcrossLineage(input: { urn: ${JSON.stringify(assetUrn(0))}, direction: DOWNSTREAM, count: 10000 }) { total searchResults { degree entity { urn type ... on Dataset { name platform { urn } } } } } }`
    )
    isDone = true
    await counting
    const { total, searchResults } = body.data.searchAcrossLineage
    t.equal(total, hubSize)
    t.strictSame(
      new Set(searchResults.map(({ entity }: { entity: { urn: string } }) => entity.urn)),
      new Set(Array.from({ length: hubSize }, (_, index) => assetUrn(index + 1)))
    )
    t.ok(
      searchResults.every(
        ({ degree, entity }: { degree: number; entity: { platform: { urn: string } } }) =>
          degree === 1 && entity.platform.urn.startsWith('urn:li:dataPlatform:')
      )
    )
    t.ok(turns > 10)
  })

  t.test(
    'an answer of several long lists is made whole, one large answer of a token at a time',
    async (t) => {
      const page = `searchAcrossLineage(input: { urn: ${JSON.stringify(assetUrn(0))}, direction: DOWNSTREAM, count: 10000 }) { searchResults { degree entity { urn } } }`
      const answers = await Promise.all([
        server.graphql(`{ ${aliased(3, () => page)} }`),
        server.graphql(`{ ${aliased(2, () => page)} }`),
        server.graphql(`{ ${page} }`)
      ])
      t.strictSame(
        answers.map(({ body }) => [
          body.errors,
          ...Object.values<{ searchResults: unknown[] }>(body.data).map(
            ({ searchResults }) => searchResults.length
          )
        ]),
        [3, 2, 1].map((count) => [undefined, ...Array.from({ length: count }, () => hubSize)])
      )
    }
  )

  t.test(
    'a negative count or one beyond the limit gives no credit, and is refused by its own name',
    async (t) => {
      const search = (count: number) =>
        `searchAcrossEntities(input: { query: "*", count: ${count} }) { searchResults { entity { urn } } }`
      const { body } = await server.graphql(`{ a: ${search(-5)} b: ${search(limits.pageMaxCount + 1)} }`)
      t.strictSame(reasonsOf(body), ['BAD_REQUEST', 'LIMIT_EXCEEDED'])
    }
  )

  t.test('queryWordsMaxCount: a search has at most this many words', async (t) => {
    const words = (count: number) => Array.from({ length: count }, () => 'w').join(' ')
    const ask = async (count: number) =>
      reasonsOf(
        (
          await server.graphql(
            'query ($query: String!) { searchAcrossEntities(input: { query: $query }) { total } }',
            { query: words(count) }
          )
        ).body
      )
    t.strictSame(await ask(limits.queryWordsMaxCount), [])
    t.strictSame(await ask(limits.queryWordsMaxCount + 1), ['LIMIT_EXCEEDED'])
  })

  t.test('graphqlVariableValuesMaxCount: variables have at most this many values', async (t) => {
    const { body } = JSON.parse(
      JSON.stringify(
        await server.graphql(
          'query ($groups: [AndFilterInput!]) { searchAcrossEntities(input: { query: "*", orFilters: $groups }) { total } }',
          {
            groups: [
              {
                and: [
                  {
                    field: 'name',
                    values: Array.from({ length: limits.graphqlVariableValuesMaxCount }, String)
                  }
                ]
              }
            ]
          }
        )
      )
    )
    t.match(body.errors, [
      { extensions: { reason: 'LIMIT_EXCEEDED', limit: 'graphqlVariableValuesMaxCount' } }
    ])
  })

  t.test(
    'values nested too deep are a refusal, however deep, of every kind and on every route',
    async (t) => {
      const nested = (depth: number, [open, close]: readonly [string, string]): string =>
        `${open.repeat(depth)}1${close.repeat(depth)}`
      for (const depth of [limits.jsonMaxDepth + 1, 5_000, 200_000])
        for (const kind of [
          ['[', ']'],
          ['{"a":', '}']
        ] as const) {
          const value = nested(depth, kind)
          for (const [url, sent] of [
            [
              '/api/graphql',
              `{"query":"query ($v: [String!]) { entities(urns: $v) { urn } }","variables":{"v":${value}}}`
            ],
            [
              '/aspects?action=ingestProposal',
              `{"proposal":{"entityType":"dataset","entityUrn":"${assetUrn(1)}","changeType":"UPSERT","aspectName":"status","aspect":${value}}}`
            ],
            ['/openapi/v3/entity/dataset', `[{"urn":"${assetUrn(1)}","status":{"value":${value}}}]`]
          ] as const) {
            const { status, text } = await server.rest({
              method: 'POST',
              url,
              body: sent,
              headers: { 'content-type': 'application/json' }
            })
            t.ok(status < 500, `${url} ${depth}: ${status}`)
            t.notMatch(text, 'INTERNAL')
          }
        }
    }
  )

  t.test('filterValuesInAllMaxCount: all filters of a read have at most this many values', async (t) => {
    const filters = (count: number) =>
      Array.from({ length: 10 }, (_, at) => ({
        field: 'name',
        values: Array.from({ length: count / 10 }, (_value, index) => `v${at}-${index}`)
      }))
    const { query, variables } = JSON.parse(
      String(
        overGraphql({
          name: '',
          query:
            'query ($and: [FacetFilterInput!]) { searchAcrossEntities(input: { query: "*", orFilters: [{ and: $and }] }) { total } }',
          variables: { and: filters(limits.filterValuesInAllMaxCount) },
          expected: []
        }).body(0)
      )
    )
    t.strictSame(reasonsOf((await server.graphql(query, variables)).body), [])
    t.strictSame(
      reasonsOf(
        (
          await server.graphql(query, {
            and: [...filters(limits.filterValuesInAllMaxCount), { field: 'name', values: ['one more'] }]
          })
        ).body
      ),
      ['LIMIT_EXCEEDED']
    )
  })
})

const hubSize = 3_000

/** Domains as deeply nested as in the catalog of the attacks, and a hub. */
async function fill({ db }: TestServer): Promise<void> {
  for (let level = 0; level < sizes.domains; level += 1) {
    await applyCall(
      db,
      [
        record(
          level,
          createDomain(domainUrn(level), `Level ${level}`, level === 0 ? undefined : domainUrn(level - 1))
        )
      ],
      asCall()
    )
  }
  const assets = Array.from({ length: hubSize + 1 }, (_, index) => assetUrn(index))
  await applyCall(
    db,
    [record(0, ...create(...assets), ...assets.slice(1).map((urn) => addEdge(assetUrn(0), urn)))],
    asCall()
  )
}
