/**
 * Whatever JSON, numbers, keys, documents and cursors are sent, the answer names the caller's error, and
 * nothing is changed or blocked.
 */
import t from 'tap'
import { countTokens } from '../api/graphql/document-limits.ts'
import { limits } from '../shared/limits.ts'
import { parseExactly, printExactly } from '../shared/model/exact-json.ts'
import { findInexactNumber } from '../shared/model/exact-numbers.ts'
import { checkJson } from '../shared/model/json-checks.ts'
import { checkKeyCounts } from '../shared/model/json-keys.ts'
import { fc, seed } from './support/fast-check.ts'
import { withServer } from './support/server.ts'

const exceeds = (limit: keyof typeof limits) => ({
  code: 'LIMIT_EXCEEDED',
  details: { limit, maximum: limits[limit] }
})
const a = 'urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)'

/** Numbers that JavaScript changes, and some that it keeps. */
const changed = [
  '9007199254740993',
  '-9007199254740993',
  '1152921504606846976',
  '9223372036854775807',
  '123456789012345678901234567890'
]
const kept = [
  '9007199254740991',
  '-9007199254740991',
  '9007199254740992',
  '100000000000000000000',
  '1.0e300',
  '12345678901234567890.5',
  '0.12345678901234567890',
  '1e-1234567890123456',
  '1E+20',
  '0'
]

t.test('whole numbers', async (t) => {
  t.test('are found if parsing would change them, and only outside of strings', async (t) => {
    for (const literal of changed) {
      t.strictSame(findInexactNumber(`{"a":["9007199254740993\\\\\\"",{"b c":[1,${literal} ]}]}`), {
        literal,
        place: 'a[1].b c[1]'
      })
      t.strictSame(findInexactNumber(literal), { literal, place: '' })
      t.equal(findInexactNumber(JSON.stringify({ [literal]: literal, b: `"${literal}\\` })), null)
    }
    for (const literal of kept) t.equal(findInexactNumber(`[${literal},{"a":${literal}}]`), null, literal)
    t.match(
      findInexactNumber(`${'['.repeat(100_000)}9007199254740993${']'.repeat(100_000)}`),
      { literal: '9007199254740993' },
      'however deep'
    )
  })

  t.test('are kept by JSON.parse as they were sent, if no inexact one is found', async (t) => {
    const number = fc.oneof(
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
      fc.constantFrom(...changed, ...kept)
    )
    const json: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        number,
        fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
        fc.bigInt().map((value) => JSON.stringify(`${value}`)),
        fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(' ,')}]`),
        fc
          .uniqueArray(fc.tuple(fc.string(), tie('value')), { maxLength: 4, selector: ([name]) => name })
          .map(
            (fields) => `{${fields.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(',')}}`
          )
      )
    })).value
    const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
    const wholeNumbersIn = (text: string): string[] =>
      (text.match(tokens) ?? []).filter((token) => /^-?\d+$/.test(token))
    const isChanged = (literal: string): boolean => literal.length > 15 && String(Number(literal)) !== literal
    fc.assert(
      fc.property(
        json,
        (text) => (findInexactNumber(text) !== null) === wholeNumbersIn(text).some((each) => isChanged(each))
      ),
      { seed, numRuns: 2_000 }
    )
    fc.assert(
      fc.property(json, (text) => {
        const kept = wholeNumbersIn(printExactly(parseExactly(text)))
        return wholeNumbersIn(text).every(
          (each) => !isChanged(each) || kept.splice(kept.indexOf(each), 1)[0] === each
        )
      }),
      { seed, numRuns: 2_000 }
    )
    t.pass()
  })

  t.test('are found at their place, whatever is around them', async (t) => {
    const value = fc.jsonValue({ depthSize: 'small' }).map((each) => JSON.stringify(each))
    const step = fc.oneof(
      fc.array(value, { maxLength: 3 }).map((before) => ({
        around: (inner: string) => `[ ${[...before, inner, ...before].join(' ,')}]`,
        step: `[${before.length}]`
      })),
      fc.tuple(fc.string({ unit: 'binary' }), fc.array(value, { maxLength: 3 })).map(([name, before]) => ({
        around: (inner: string) =>
          `{${[...before.map((each, index) => `"${index}":${each}`), `${JSON.stringify(name)} : ${inner}`].join(',\n')}}`,
        step: `.${name}`
      }))
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), fc.constantFrom(...changed), (steps, literal) => {
        t.strictSame(findInexactNumber(steps.reduceRight((inner, { around }) => around(inner), literal)), {
          literal,
          place: steps
            .map((each) => each.step)
            .join('')
            .replace(/^\./, '')
        })
      }),
      { seed, numRuns: 500 }
    )
  })

  t.test('keep their digits in JSON that is parsed and printed exactly', async (t) => {
    for (const literal of changed)
      for (const text of [
        literal,
        `{"a":[${literal},"${literal}",{"b":${literal},"c":1.5}],"${literal}":null}`,
        `{"__proto__":{"a":${literal}},"toJSON":${literal}}`
      ])
        t.equal(printExactly(parseExactly(text)), text)
    t.equal(
      printExactly(parseExactly('{"a":9007199254740993,"a":1,"b":1,"b":9007199254740993}')),
      '{"a":1,"b":9007199254740993}',
      'of two members with one name the last counts'
    )
    for (const text of ['{9007199254740993:1}', '[09007199254740993]', '9007199254740993 9007199254740993'])
      t.throws(() => parseExactly(text), SyntaxError, text)
    t.strictSame(parseExactly(`[${'9'.repeat(400)}]`), [Infinity], 'a number that no database keeps')
    const deep = `${'['.repeat(100_000)}9007199254740993${']'.repeat(100_000)}`
    t.ok(Array.isArray(parseExactly(deep)), 'however deep')
  })
})

t.test('an object has a limited number of keys, of limited length', async (t) => {
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]))
  t.ok(checkJson({ inner: keys(limits.jsonObjectKeysMaxCount) }, 'aspect'))
  t.throws(
    () => checkJson({ inner: keys(limits.jsonObjectKeysMaxCount + 1) }, 'aspect'),
    exceeds('jsonObjectKeysMaxCount')
  )
  t.ok(checkJson({ ['k'.repeat(limits.jsonKeyMaxChars)]: 1 }, 'aspect'))
  t.throws(
    () => checkJson({ ['k'.repeat(limits.jsonKeyMaxChars + 1)]: 1 }, 'aspect'),
    exceeds('jsonKeyMaxChars')
  )
})

t.test('a document has a limited number of different keys', async (t) => {
  const objects = (count: number, keyOf: (object: number, key: number) => string, keysEach = 1_000) =>
    Array.from({ length: count }, (_, object) =>
      Object.fromEntries(Array.from({ length: keysEach }, (_each, key) => [keyOf(object, key), 1]))
    )
  const different = (object: number, key: number): string => `k${object}":\\_${key}`
  const same = (_: number, key: number): string => `k${key}`
  const kinds: { [name: string]: [value: unknown, limit: 'jsonKeysMaxCount' | null] } = {
    'as many as there may be': [objects(50, different), null],
    'one more': [[...objects(50, different), { one: 1 }], 'jsonKeysMaxCount'],
    '240,000 different ones': [objects(240, different), 'jsonKeysMaxCount'],
    '120,000 objects of one': [objects(120_000, different, 1), 'jsonKeysMaxCount'],
    'one in another': [
      objects(51, different).reduce((inner: object, outer) => ({ ...outer, inner }), {}),
      'jsonKeysMaxCount'
    ],
    'the keys of a wide table, repeated': [objects(240, same), null],
    'texts that look like keys': [Array.from({ length: 60_000 }, (_, index) => `"k${index}":`), null]
  }
  for (const [name, [value, limit]] of Object.entries(kinds)) {
    const text = JSON.stringify(value)
    for (const checked of [() => checkJson(value, 'aspect'), () => checkKeyCounts(text)])
      if (limit === null) t.doesNotThrow(checked, name)
      else t.throws(checked, exceeds(limit), name)
    const isTooMuchForBody = name === '240,000 different ones'
    const inBody = (): void => {
      checkKeyCounts(text, 'body')
    }
    if (isTooMuchForBody) t.throws(inBody, exceeds('jsonBodyKeysMaxCount'))
    else t.doesNotThrow(inBody, name)
  }
})

t.test('an object of too many keys, and too many values, are found in the text', async (t) => {
  const most = limits.jsonObjectKeysMaxCount
  const keys = (count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"k${index}":{"inner":":,"}`).join(',')}}`
  checkKeyCounts(`[${keys(most)},"${':'.repeat(most)}\\",{"a":${keys(most)}}]`, 'body')
  for (const text of [keys(most + 1), `[[],{"a":${keys(most + 1)}}]`])
    t.throws(() => {
      checkKeyCounts(text, 'body')
    }, exceeds('jsonObjectKeysMaxCount'))
  const values = (count: number) => `[${'1,'.repeat(count - 1)}1]`
  checkKeyCounts(
    `{"a":"${','.repeat(limits.jsonValuesMaxCount)}","b":${values(limits.jsonValuesMaxCount - 1)}}`
  )
  t.throws(() => {
    checkKeyCounts(values(limits.jsonValuesMaxCount + 1))
  }, exceeds('jsonValuesMaxCount'))
  t.ok(checkJson(JSON.parse(values(limits.jsonValuesMaxCount - 1)), 'aspect'), 'the list is a value too')
  t.throws(
    () => checkJson(JSON.parse(values(limits.jsonValuesMaxCount)), 'aspect'),
    exceeds('jsonValuesMaxCount')
  )
  for (const text of ['', '"', '}}]{', '"\\"', ':'.repeat(10)]) checkKeyCounts(text)
})

t.test('a GraphQL document has a limited number of open brackets at once', async (t) => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const most = limits.graphqlMaxBrackets
  t.equal(countTokens(nested(most) + nested(most)), 4 * most)
  t.throws(() => countTokens(nested(most + 1)), {
    code: 'QUERY_TOO_DEEP',
    details: { limit: 'graphqlMaxBrackets', maximum: most }
  })
})

t.test('through every door', async (t) => {
  const server = await withServer(t, { withWorker: true, env: { MISSING_REFERENCES: 'create' } })
  const { rest, graphql } = server
  const reasonOf = async (query: string, variables = {}): Promise<unknown> =>
    (await graphql(query, variables)).body.errors?.[0].extensions.reason
  const literal = '9007199254740993'
  const text = (aspect: string) =>
    JSON.stringify({
      proposal: {
        entityType: 'dataset',
        entityUrn: a,
        changeType: 'UPSERT',
        aspectName: 'moonPhase',
        aspect: { value: aspect, contentType: 'application/json' }
      }
    })
  const plain = `{"entityType":"dataset","entityUrn":"${a}","changeType":"UPSERT","aspectName":"moonPhase","aspect":{"json":{"rows":${literal}}}}`
  const patch = `[{"op":"add","path":"/rows","value":${literal}}]`
  const json = { 'content-type': 'application/json' }

  t.test('a number that would be changed is refused by its place, and nothing is stored', async (t) => {
    const doors: readonly [
      name: string,
      method: 'POST' | 'PATCH',
      url: string,
      body: string,
      field: string
    ][] = [
      [
        'RestLi, as text',
        'POST',
        '/aspects?action=ingestProposal',
        text(`{"rows":${literal}}`),
        'aspect.rows'
      ],
      [
        'RestLi, a patch',
        'POST',
        '/aspects?action=ingestProposal',
        text(patch).replace('UPSERT', 'PATCH').replace('application/json', 'application/json-patch+json'),
        'aspect[0].value'
      ],
      [
        'RestLi, batch',
        'POST',
        '/aspects?action=ingestProposalBatch',
        `{"proposals":[${plain}]}`,
        'proposals[0].aspect.json.rows'
      ],
      [
        'RestLi, snapshot',
        'POST',
        '/entities?action=ingest',
        `{"entity":{"value":{"com.linkedin.metadata.snapshot.DatasetSnapshot":{"urn":"${a}","aspects":[{"com.linkedin.dataset.DatasetProperties":{"rows":${literal}}}]}}}}`,
        'entity.value.com.linkedin.metadata.snapshot.DatasetSnapshot.aspects[0].com.linkedin.dataset.DatasetProperties.rows'
      ],
      [
        'OpenAPI v3',
        'POST',
        '/openapi/v3/entity/dataset?async=false',
        `[{"urn":"${a}","moonPhase":{"value":{"rows":${literal}}}}]`,
        '[0].moonPhase.value.rows'
      ],
      [
        'OpenAPI v3, asynchronous',
        'POST',
        '/openapi/v3/entity/dataset?async=true',
        `[{"urn":"${a}","moonPhase":{"value":{"rows":${literal}}}}]`,
        '[0].moonPhase.value.rows'
      ],
      [
        'OpenAPI v3, a patch',
        'PATCH',
        `/openapi/v3/entity/dataset/${encodeURIComponent(a)}/moonPhase`,
        `{"patch":${patch}}`,
        'patch[0].value'
      ],
      [
        'GraphQL variables',
        'POST',
        '/api/graphql',
        `{"query":"query q($n: Int) { __typename }","variables":{"n":${literal}}}`,
        'variables.n'
      ]
    ]
    for (const [name, method, url, body, field] of doors) {
      const answer = await rest({ method, url, body, headers: json })
      t.equal(answer.status, 400, name)
      t.match(answer.text, `${field} is ${literal}: a whole number beyond 2^53`, name)
    }
    for (const [format, body] of [
      ['ndjson', plain],
      ['mcp', `[${plain}]`],
      ['ndjson', text(`{"rows":${literal}}`).slice('{"proposal":'.length, -1)],
      ['ndjson', plain.replaceAll('moonPhase', 'upstreamLineage').replace('"rows"', '"upstreams":[],"rows"')],
      ['ndjson', `{"line":1,"code":"BAD_REQUEST","message":"","record": ${plain}}`],
      ['ndjson', `{"upstreamUrn":"hive:a","downstreamUrn":"${a}","properties":{"rows":${literal}}}`]
    ] as const) {
      const load = await rest({
        method: 'POST',
        url: `/loads?format=${format}&wait=25`,
        body,
        headers: { 'content-type': format === 'mcp' ? 'application/json' : 'application/x-ndjson' }
      })
      t.match(load.body.counts, { received: 1, rejected: 1 }, format)
      t.match(
        (await rest({ url: `/loads/${load.body.id}/rejects` })).text,
        /is 9007199254740993: a whole number beyond 2\^53/
      )
    }
    t.equal(
      await reasonOf(`{ lineageCounts(urns: ["${a}"], input: { startTimeMillis: ${literal} }) { urn } }`),
      'GRAPHQL_VALIDATION_FAILED'
    )
    t.equal((await rest({ url: `/openapi/v3/entity/dataset/${encodeURIComponent(a)}` })).status, 404)
  })

  t.test('numbers that are kept read back as sent', async (t) => {
    const numbers = kept.filter((each) => !each.includes('1234567890')).join(',')
    t.equal(
      (
        await rest({
          method: 'POST',
          url: '/aspects?action=ingestProposal',
          body: text(`{"list":[${numbers}],"text":"${literal}"}`),
          headers: json
        })
      ).status,
      200
    )
    const { body } = await rest({ url: `/openapi/v3/entity/dataset/${encodeURIComponent(a)}/moonPhase` })
    t.strictSame(body.value, JSON.parse(`{"list":[${numbers}],"text":"${literal}"}`))
  })

  t.test('a GraphQL document of much nesting or repetition is refused before it is read', async (t) => {
    const list = (depth: number) => `{ domain(urn: ${'['.repeat(depth)}1${']'.repeat(depth)}) { urn } }`
    t.equal(await reasonOf(list(4_900)), 'QUERY_TOO_DEEP')
    t.equal(await reasonOf(list(2_400)), 'QUERY_TOO_DEEP')
    t.equal(await reasonOf(list(50)), 'GRAPHQL_VALIDATION_FAILED')
    t.equal(
      await reasonOf(`query q($a: ${'['.repeat(2_000)}Int${']'.repeat(2_000)}) { __typename }`),
      'QUERY_TOO_DEEP'
    )
    const repeated = (count: number) => `{ me { ${'corpUser { urn } '.repeat(count)} } }`
    t.equal(await reasonOf(repeated(200)), undefined)
    t.equal(await reasonOf(repeated(1_200)), 'QUERY_TOO_COMPLEX')
    t.equal(
      await reasonOf(
        `{ me { ${'...A '.repeat(2)} ...B } } fragment A on AuthenticatedUser { ${'corpUser { urn } '.repeat(230)} } fragment B on AuthenticatedUser { ${'corpUser { urn } '.repeat(230)} }`
      ),
      'QUERY_TOO_COMPLEX'
    )
    t.equal(
      await reasonOf('{ me { ...A } } fragment A on AuthenticatedUser { corpUser { urn } ...A }'),
      'GRAPHQL_VALIDATION_FAILED'
    )
  })

  t.test('variables of any shape get an answer that says what is wrong', async (t) => {
    const query =
      'query q($l: LineageInput!) { dataset(urn: "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)") { lineage(input: $l) { total } } }'
    for (const strange of [
      { toString: 1 },
      { toString: {}, valueOf: [] },
      { toJSON: 1 },
      [],
      { length: 1 },
      'x',
      true,
      { constructor: 'x' }
    ]) {
      t.equal(
        await reasonOf(query, { l: { direction: 'UPSTREAM', endTimeMillis: strange } }),
        'GRAPHQL_VALIDATION_FAILED',
        JSON.stringify(strange)
      )
      t.equal(await reasonOf(query, { l: strange }), 'GRAPHQL_VALIDATION_FAILED', JSON.stringify(strange))
      t.equal(
        await reasonOf(
          `query q($l: LineageInput!) { dataset(urn: "${a}") { lineage(input: $l) { total } } }`,
          { l: { direction: strange } }
        ),
        'GRAPHQL_VALIDATION_FAILED'
      )
    }
  })

  t.test('a cursor of the loads that no page gave is refused', async (t) => {
    const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
    const id = '00000000-0000-0000-0000-000000000000'
    for (const time of [
      '2026-13-01 00:00:00+00',
      '2026-02-30 00:00:00+00',
      '2026-01-01 24:00:01+00',
      '2026-01-01 00:61:00+00',
      '0000-01-01 00:00:00+00',
      '999999-01-01 00:00:00+00',
      '2026-01-01 00:00:00+99',
      '2026-01-01 00:00:00+00:99',
      '2026-01-01 00:00:60+00'
    ]) {
      t.match(
        await rest({ url: `/loads?cursor=${cursor(time, id)}` }),
        { status: 400, body: { code: 'BAD_REQUEST', field: 'cursor' } },
        time
      )
    }
    for (const time of [
      '2026-02-28 23:59:59.123456+00',
      '2028-02-29 00:00:00-03:30',
      '0001-01-01 00:00:00+14'
    ])
      t.equal((await rest({ url: `/loads?cursor=${cursor(time, id)}` })).status, 200, time)
  })

  t.test('U+0000 in the query or the path is refused by its parameter', async (t) => {
    const id = '00000000-0000-0000-0000-000000000000'
    const sent: [url: string, field: string][] = [
      ['/loads?source=%00', 'source'],
      ['/loads?a%00=1', 'a\ufffd'],
      ['/loads?limit=1&limit=%00', 'limit'],
      ['/openapi/v3/entity/dataset?scrollId=%00', 'scrollId'],
      ['/aspects/urn%3Ali%3Adomain%3Ax?aspect=%00', 'aspect'],
      ['/loads/%00', 'path'],
      [`/loads/${id}/rejects?after=%00`, 'after'],
      ['/entities/%00', 'path']
    ]
    for (const [url, field] of sent) {
      const { status, body } = await rest({ url })
      t.equal(status, 400, url)
      t.match(JSON.stringify(body), `${field} contains U+0000, which cannot be stored`, url)
    }
  })

  t.test('a load without a record is refused, however it is to be applied', async (t) => {
    for (const query of [
      '',
      '?atomic=true',
      '?dryRun=true',
      '?mode=snapshot&source=x',
      '?mode=snapshot&source=x&atomic=true'
    ]) {
      for (const body of ['', '\n \n'])
        t.match(
          await rest({
            method: 'POST',
            url: `/loads${query}`,
            headers: { 'content-type': 'application/x-ndjson' },
            body
          }),
          { status: 400, body: { code: 'BAD_REQUEST', message: 'The body contains no records' } },
          query
        )
    }
  })
})
