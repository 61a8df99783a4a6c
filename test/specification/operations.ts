/** Sections 3, 4.1 and 4.2: the rules of state, the common shape of requests, and the GraphQL operations. */
import type { JsonObject } from '../../shared/model/changes.ts'
import type { CatalogClient } from '../support/catalog-client.ts'
import { valueAt } from '../support/json-answer.ts'
import { sendRaw } from '../support/raw-request.ts'
import { datasetUrn, row, type SpecificationRow } from './row.ts'

const domainOf = async (catalog: CatalogClient, urn: string): Promise<unknown> =>
  valueAt(
    (
      await catalog.graphql('query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }', {
        urn
      })
    ).data,
    'dataset.domain.domain.urn'
  ) ?? null

const parentsOf = async (catalog: CatalogClient, urn: string): Promise<unknown> =>
  valueAt(
    (
      await catalog.graphql(
        'query ($urn: String!) { domain(urn: $urn) { parentDomains { domains { urn } } } }',
        { urn }
      )
    ).data,
    'domain.parentDomains.domains'
  )

export const operationRows: SpecificationRow[] = [
  row('S3-r1: an asset has zero or one domain', async (t, catalog) => {
    const asset = datasetUrn('s3.asset')
    await catalog.make(asset)
    t.equal(await domainOf(catalog, asset), null, 'zero')
    const [one, two] = [
      await catalog.createDomain({ name: 'S3 one' }),
      await catalog.createDomain({ name: 'S3 two' })
    ]
    await catalog.setDomain(asset, one)
    await catalog.setDomain(asset, two)
    t.equal(await domainOf(catalog, asset), two, 'one')
    t.strictSame(
      valueAt(
        (await catalog.readAspect(asset, 'domains')).json,
        'aspect.com\\.linkedin\\.domain\\.Domains.domains'
      ),
      [two]
    )
  }),

  row('S3-r2: a domain may have one parent domain, given at creation', async (t, catalog) => {
    const parent = await catalog.createDomain({ name: 'S3 parent' })
    const child = await catalog.createDomain({ name: 'S3 child', parentDomain: parent })
    t.strictSame(await parentsOf(catalog, child), [{ urn: parent }])
  }),

  row('S4.1-method: the method is POST, and no other', async (t, catalog) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, headers } = await catalog.send(method, '/api/graphql')
      t.strictSame([status, headers.allow], [405, 'OPTIONS, POST'], method)
    }
    t.strictSame((await catalog.graphql('{ __typename }')).data, { __typename: 'Query' })
  }),

  row('S4.1-path: the path is /api/graphql, and /api/v2/graphql is the same', async (t, catalog) => {
    for (const path of ['/api/graphql', '/api/v2/graphql']) {
      const { status, json } = await catalog.send('POST', path, { query: '{ __typename }' })
      t.strictSame([status, valueAt(json, 'data')], [200, { __typename: 'Query' }], path)
    }
  }),

  row(
    'S4.1-headers: a bearer token and the content type application/json are required',
    async (t, catalog) => {
      const body = Buffer.from('{"query":"{ __typename }"}')
      const send = (headers: { [name: string]: string }) =>
        sendRaw(catalog.url, { method: 'POST', path: '/api/graphql', headers, body })
      const authorization = `Bearer ${catalog.token}`
      t.equal((await send({ authorization, 'content-type': 'application/json' })).status, 200)
      t.equal((await send({ authorization, 'content-type': 'application/json; charset=utf-8' })).status, 200)
      t.equal((await send({ 'content-type': 'application/json' })).status, 401)
      t.equal((await send({ authorization, 'content-type': 'text/plain' })).status, 415)
    }
  ),

  row('S4.1-body: the body has query, and variables that may be empty or absent', async (t, catalog) => {
    const query = 'query ($urn: String = "urn:li:domain:none") { entityExists(urn: $urn) }'
    for (const body of [
      { query },
      { query, variables: {} },
      { query, variables: null },
      { query, variables: { urn: 'urn:li:domain:other' } }
    ]) {
      t.strictSame(valueAt((await catalog.send('POST', '/api/graphql', body)).json, 'data'), {
        entityExists: false
      })
    }
    t.equal((await catalog.send('POST', '/api/graphql', { variables: {} })).status, 400)
  }),

  row('S4.1-response: the answer is 200 with data by requested field, and extensions', async (t, catalog) => {
    const { status, headers, json } = await catalog.send('POST', '/api/graphql', {
      query: '{ here: entityExists(urn: "urn:li:domain:none") }'
    })
    t.equal(status, 200)
    t.match(headers['content-type'], /^application\/json/)
    t.strictSame(valueAt(json, 'data'), { here: false })
    t.type(valueAt(json, 'extensions'), 'object')
    t.equal(valueAt(json, 'errors'), undefined)
  }),

  row('S4.1-input: an input may be written inline or as a variable', async (t, catalog) => {
    const [a, b] = [datasetUrn('s41.a'), datasetUrn('s41.b')]
    await catalog.make(a, b)
    await catalog.updateLineage([[a, b]])
    const fields = 'searchResults { degree entity { urn } }'
    const expected = { scrollAcrossLineage: { searchResults: [{ degree: 1, entity: { urn: b } }] } }
    const inline = `{ scrollAcrossLineage(input: { query: "*", urn: "${a}", count: 10, direction: DOWNSTREAM, orFilters: [{ and: [{ condition: EQUAL, negated: false, field: "degree", values: ["1", "2", "3+"] }] }] }) { ${fields} } }`
    t.strictSame((await catalog.graphql(inline)).data, expected)
    const variable = {
      query: '*',
      urn: a,
      count: 10,
      direction: 'DOWNSTREAM',
      orFilters: [
        { and: [{ condition: 'EQUAL', negated: false, field: 'degree', values: ['1', '2', '3+'] }] }
      ]
    }
    for (const type of ['ScrollAcrossLineageInput!', 'ScrollAcrossLineageInput']) {
      const query = `query ($input: ${type}) { scrollAcrossLineage(input: $input) { ${fields} } }`
      t.strictSame((await catalog.graphql(query, { input: variable })).data, expected, type)
    }
    const { json } = await catalog.graphql(`{ scrollAcrossLineage { ${fields} } }`)
    t.equal(valueAt(json, 'errors.0.message'), 'URN must not be null or empty')
  }),

  row(
    'S4.2-createDomain: createDomain takes name, description and parentDomain and returns the URN',
    async (t, catalog) => {
      const parent = await catalog.createDomain({ id: 's42-parent', name: 'S4.2 parent' })
      const { data } = await catalog.graphql(
        `mutation { createDomain(input: { id: "s42-child", name: "S4.2 child", description: "of the parent", parentDomain: "${parent}" }) }`
      )
      t.strictSame(data, { createDomain: 'urn:li:domain:s42-child' })
    }
  ),

  row('S4.2-dataset: dataset returns the dataset with its domain association', async (t, catalog) => {
    const urn = datasetUrn('s42.dataset')
    const domain = await catalog.createDomain({ name: 'S4.2 dataset' })
    await catalog.make(urn)
    await catalog.setDomain(urn, domain)
    const { data } = await catalog.graphql(
      'query ($urn: String!) { dataset(urn: $urn) { domain { associatedUrn domain { urn properties { name } } } } }',
      { urn }
    )
    t.strictSame(data, {
      dataset: {
        domain: { associatedUrn: urn, domain: { urn: domain, properties: { name: 'S4.2 dataset' } } }
      }
    })
  }),

  row('S4.2-setDomain: setDomain takes domainUrn and entityUrn and returns true', async (t, catalog) => {
    const urn = datasetUrn('s42.set')
    const domain = await catalog.createDomain({ name: 'S4.2 set' })
    await catalog.make(urn)
    t.strictSame(
      (await catalog.graphql(`mutation { setDomain(domainUrn: "${domain}", entityUrn: "${urn}") }`)).data,
      { setDomain: true }
    )
    t.equal(await domainOf(catalog, urn), domain)
  }),

  row('S4.2-unsetDomain: unsetDomain takes entityUrn and returns true', async (t, catalog) => {
    const urn = datasetUrn('s42.unset')
    await catalog.make(urn)
    await catalog.setDomain(urn, await catalog.createDomain({ name: 'S4.2 unset' }))
    t.strictSame((await catalog.graphql(`mutation { unsetDomain(entityUrn: "${urn}") }`)).data, {
      unsetDomain: true
    })
    t.equal(await domainOf(catalog, urn), null)
  }),

  row(
    'S4.2-updateLineage: updateLineage takes edgesToAdd and edgesToRemove and returns true',
    async (t, catalog) => {
      const [a, b, c] = [datasetUrn('s42.a'), datasetUrn('s42.b'), datasetUrn('s42.c')]
      await catalog.make(a, b, c)
      await catalog.updateLineage([[a, c]])
      t.strictSame((await catalog.updateLineage([[b, c]], [[a, c]])).data, { updateLineage: true })
      t.strictSame(await catalog.walk(c, 'UPSTREAM'), [`1 ${b}`])
    }
  ),

  row('S4.2-scrollAcrossLineage: scrollAcrossLineage returns searchResults', async (t, catalog) => {
    const [a, b] = [datasetUrn('s42.scroll_a'), datasetUrn('s42.scroll_b')]
    await catalog.make(a, b)
    await catalog.updateLineage([[a, b]])
    const { data } = await catalog.graphql(
      'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { searchResults { degree entity { urn type } } } }',
      { input: { query: '*', urn: a, count: 10, direction: 'DOWNSTREAM' } }
    )
    t.strictSame(data, {
      scrollAcrossLineage: { searchResults: [{ degree: 1, entity: { urn: b, type: 'DATASET' } }] }
    })
  }),

  row(
    'S4.2-r1: createDomain without parentDomain makes a top-level domain, with it one under that domain',
    async (t, catalog) => {
      const top = await catalog.createDomain({ name: 'S4.2 r1 top' })
      const below = await catalog.createDomain({ name: 'S4.2 r1 below', parentDomain: top })
      t.strictSame(await parentsOf(catalog, top), [])
      t.strictSame(await parentsOf(catalog, below), [{ urn: top }])
      const { data } = await catalog.graphql(
        '{ listDomains(input: { start: 0, count: 1000 }) { domains { urn } } }'
      )
      const listed = JSON.stringify(data)
      t.strictSame(
        [listed.includes(`"${top}"`), listed.includes(`"${below}"`)],
        [true, false],
        'the list of the top level'
      )
    }
  ),

  row('S4.2-r2: after setDomain the dataset query returns that domain', async (t, catalog) => {
    const urn = datasetUrn('s42.r2')
    await catalog.make(urn)
    for (const name of ['S4.2 r2 first', 'S4.2 r2 second']) {
      const domain = await catalog.createDomain({ name })
      await catalog.setDomain(urn, domain)
      t.equal(await domainOf(catalog, urn), domain, name)
    }
  }),

  row('S4.2-r3: unsetDomain takes no domain and removes the one there is', async (t, catalog) => {
    const urn = datasetUrn('s42.r3')
    await catalog.make(urn)
    await catalog.setDomain(urn, await catalog.createDomain({ name: 'S4.2 r3' }))
    const named = await catalog.graphql(
      'mutation ($urn: String!) { unsetDomain(entityUrn: $urn, domainUrn: "urn:li:domain:any") }',
      { urn }
    )
    t.equal(named.reason, 'GRAPHQL_VALIDATION_FAILED', 'there is no such argument')
    await catalog.graphql('mutation ($urn: String!) { unsetDomain(entityUrn: $urn) }', { urn })
    t.equal(await domainOf(catalog, urn), null)
    t.strictSame(
      valueAt(
        (await catalog.readAspect(urn, 'domains')).json,
        'aspect.com\\.linkedin\\.domain\\.Domains.domains'
      ),
      []
    )
  }),

  row(
    'S4.2-r4: the answer of unsetDomain is under the key of the request, or its alias',
    async (t, catalog) => {
      const urn = datasetUrn('s42.r4')
      await catalog.make(urn)
      t.strictSame(
        (await catalog.graphql('mutation ($urn: String!) { unsetDomain(entityUrn: $urn) }', { urn })).data,
        { unsetDomain: true }
      )
      t.strictSame(
        (
          await catalog.graphql('mutation ($urn: String!) { removeDomain: unsetDomain(entityUrn: $urn) }', {
            urn
          })
        ).data,
        { removeDomain: true }
      )
    }
  ),

  row(
    'S4.2-r5: several edges of one downstream are several upstreams; lists may be empty; one edge needs no list',
    async (t, catalog) => {
      const [a, b, c, d] = [
        datasetUrn('s42.r5a'),
        datasetUrn('s42.r5b'),
        datasetUrn('s42.r5c'),
        datasetUrn('s42.r5d')
      ]
      await catalog.make(a, b, c, d)
      t.strictSame(
        (
          await catalog.updateLineage(
            [
              [a, c],
              [b, c]
            ],
            []
          )
        ).data,
        { updateLineage: true }
      )
      t.strictSame(await catalog.walk(c, 'UPSTREAM'), [`1 ${a}`, `1 ${b}`])
      const single = { edgesToAdd: { upstreamUrn: c, downstreamUrn: d }, edgesToRemove: [] }
      t.strictSame(
        (
          await catalog.graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
            input: single
          })
        ).data,
        { updateLineage: true }
      )
      const inline = `mutation { updateLineage(input: { edgesToAdd: { downstreamUrn: "${d}", upstreamUrn: "${a}" }, edgesToRemove: [] }) }`
      t.strictSame((await catalog.graphql(inline)).data, { updateLineage: true })
      t.strictSame(await catalog.walk(d, 'UPSTREAM'), [`1 ${a}`, `1 ${c}`, `2 ${b}`])
      t.strictSame(
        (
          await catalog.updateLineage(
            [],
            [
              [a, c],
              [a, d]
            ]
          )
        ).data,
        { updateLineage: true }
      )
      t.strictSame(await catalog.walk(d, 'UPSTREAM'), [`1 ${c}`, `2 ${b}`])
      t.strictSame((await catalog.updateLineage([], [])).data, { updateLineage: true })
    }
  ),

  row('S4.2-r6: the name is required in createDomain', async (t, catalog) => {
    t.equal(
      (await catalog.graphql('mutation { createDomain(input: { description: "nameless" }) }')).reason,
      'GRAPHQL_VALIDATION_FAILED'
    )
    const blank = await catalog.graphql('mutation { createDomain(input: { name: " " }) }')
    t.strictSame(
      [blank.reason, valueAt(blank.json, 'errors.0.extensions.field')],
      ['BAD_REQUEST', 'input.name']
    )
  }),

  row('S4.2-query: query is a search text over the results, and * matches everything', async (t, catalog) => {
    const [a, red, blue] = [
      datasetUrn('s42.query'),
      datasetUrn('s42.query_red'),
      datasetUrn('s42.query_blue')
    ]
    await catalog.make(a, red, blue)
    await catalog.updateLineage([
      [a, red],
      [a, blue]
    ])
    t.strictSame((await catalog.walk(a, 'DOWNSTREAM', { query: '*' })).sort(), [`1 ${blue}`, `1 ${red}`])
    t.strictSame(await catalog.walk(a, 'DOWNSTREAM', { query: 'query_red' }), [`1 ${red}`])
    t.strictSame(await catalog.walk(a, 'DOWNSTREAM', { query: 'query_%' }), [], 'no wildcard but *')
  }),

  row('S4.2-urn: urn is the start; an absent or invalid URN fails', async (t, catalog) => {
    const [a, b, c] = [datasetUrn('s42.urn_a'), datasetUrn('s42.urn_b'), datasetUrn('s42.urn_c')]
    await catalog.make(a, b, c)
    await catalog.updateLineage([
      [a, b],
      [b, c]
    ])
    t.strictSame(await catalog.walk(b), [`1 ${c}`])
    const absent = await catalog.scroll({ urn: datasetUrn('s42.nowhere'), direction: 'DOWNSTREAM' })
    t.strictSame(
      [absent.data, absent.reason, absent.urn],
      [{ scrollAcrossLineage: null }, 'NOT_FOUND', datasetUrn('s42.nowhere')]
    )
    t.equal((await catalog.scroll({ urn: 'nowhere', direction: 'DOWNSTREAM' })).reason, 'INVALID_URN')
  }),

  row('S4.2-count: count is the size of a page, and scrollId asks for the next one', async (t, catalog) => {
    const start = datasetUrn('s42.count')
    const ends = Array.from({ length: 12 }, (_, index) => datasetUrn(`s42.count_${index}`))
    await catalog.make(start, ...ends)
    await catalog.updateLineage(ends.map((end): [string, string] => [start, end]))
    const seen: string[] = []
    const sizes: number[] = []
    let scrollId: string | null = null
    do {
      const { data } = await catalog.scroll({
        urn: start,
        direction: 'DOWNSTREAM',
        count: 5,
        ...(scrollId ? { scrollId } : {})
      })
      const page = valueAt(data, 'scrollAcrossLineage.searchResults')
      if (!Array.isArray(page)) throw new Error(`no page: ${JSON.stringify(data)}`)
      sizes.push(page.length)
      seen.push(...page.map((result) => String(valueAt(result, 'entity.urn'))))
      const next = valueAt(data, 'scrollAcrossLineage.nextScrollId')
      scrollId = typeof next === 'string' ? next : null
    } while (scrollId !== null && sizes.length < 10)
    t.strictSame(sizes, [5, 5, 2])
    t.strictSame(seen.sort(), ends.sort(), 'each once')
    t.equal(
      valueAt(
        (await catalog.scroll({ urn: start, direction: 'DOWNSTREAM' })).data,
        'scrollAcrossLineage.count'
      ),
      10,
      'without count'
    )
    t.equal(
      (await catalog.scroll({ urn: start, direction: 'DOWNSTREAM', count: 10_001 })).reason,
      'LIMIT_EXCEEDED'
    )
  }),

  row('S4.2-direction: direction is DOWNSTREAM or UPSTREAM', async (t, catalog) => {
    const [a, b, c] = [datasetUrn('s42.dir_a'), datasetUrn('s42.dir_b'), datasetUrn('s42.dir_c')]
    await catalog.make(a, b, c)
    await catalog.updateLineage([
      [a, b],
      [b, c]
    ])
    t.strictSame(await catalog.walk(b, 'DOWNSTREAM'), [`1 ${c}`])
    t.strictSame(await catalog.walk(b, 'UPSTREAM'), [`1 ${a}`])
    t.equal((await catalog.scroll({ urn: b, direction: 'SIDEWAYS' })).reason, 'GRAPHQL_VALIDATION_FAILED')
  }),

  ...scrollFilterRows()
]

function scrollFilterRows(): SpecificationRow[] {
  const start = datasetUrn('s42f.start')
  const [one, two, three, chart] = [
    datasetUrn('s42f.one'),
    datasetUrn('s42f.two', 'DEV'),
    datasetUrn('s42f.three'),
    'urn:li:chart:(looker,s42f)'
  ]
  /** start -> one -> two -> three -> chart: degrees 1 to 4. */
  const chain = async (catalog: CatalogClient): Promise<void> => {
    await catalog.make(start, one, two, three, chart)
    await catalog.updateLineage([
      [start, one],
      [one, two],
      [two, three],
      [three, chart]
    ])
  }
  const keep = (catalog: CatalogClient, orFilters: JsonObject[]): Promise<string[]> =>
    catalog.walk(start, 'DOWNSTREAM', { orFilters })
  const degree = (...values: string[]): JsonObject => ({
    field: 'degree',
    values,
    condition: 'EQUAL',
    negated: false
  })
  return [
    row(
      'S4.2-orFilters: a result is kept if one group matches; a group matches if all its filters do',
      async (t, catalog) => {
        await chain(catalog)
        t.strictSame(await keep(catalog, [{ and: [degree('1')] }, { and: [degree('3+')] }]), [
          `1 ${one}`,
          `3 ${three}`,
          `4 ${chart}`
        ])
        t.strictSame(
          await keep(catalog, [{ and: [degree('1', '2'), { field: 'origin', values: ['DEV'] }] }]),
          [`2 ${two}`]
        )
      }
    ),

    row('S4.2-condition: EQUAL compares the whole value, and is the default', async (t, catalog) => {
      await chain(catalog)
      const filter = (more: JsonObject): JsonObject[] => [{ and: [{ field: 'urn', values: [one], ...more }] }]
      t.strictSame(await keep(catalog, filter({ condition: 'EQUAL' })), [`1 ${one}`])
      t.strictSame(await keep(catalog, filter({})), [`1 ${one}`])
      t.strictSame(
        await keep(catalog, [{ and: [{ field: 'urn', values: [one.slice(0, -1)], condition: 'EQUAL' }] }]),
        []
      )
      t.strictSame(
        await keep(catalog, [{ and: [{ field: 'urn', values: [one.toUpperCase()], condition: 'EQUAL' }] }]),
        [],
        'case counts'
      )
      t.strictSame(
        await keep(catalog, [{ and: [{ field: 'urn', values: [one, three], condition: 'EQUAL' }] }]),
        [`1 ${one}`, `3 ${three}`],
        'one of the values'
      )
    }),

    row('S4.2-negated: negated keeps what does not match', async (t, catalog) => {
      await chain(catalog)
      t.strictSame(await keep(catalog, [{ and: [{ ...degree('1', '3+'), negated: true }] }]), [`2 ${two}`])
      t.strictSame(await keep(catalog, [{ and: [{ ...degree('2'), negated: false }] }]), [`2 ${two}`])
    }),

    row(
      'S4.2-field: degree filters by hops, other fields by properties of the result',
      async (t, catalog) => {
        await chain(catalog)
        t.strictSame(await keep(catalog, [{ and: [degree('2')] }]), [`2 ${two}`])
        t.strictSame(await keep(catalog, [{ and: [{ field: '_entityType', values: ['CHART'] }] }]), [
          `4 ${chart}`
        ])
        t.strictSame(
          await keep(catalog, [{ and: [{ field: 'platform', values: ['urn:li:dataPlatform:looker'] }] }]),
          [`4 ${chart}`]
        )
        const unknown = await catalog.scroll({
          urn: start,
          direction: 'DOWNSTREAM',
          orFilters: [{ and: [{ field: 'colour', values: ['red'] }] }]
        })
        t.equal(unknown.reason, 'BAD_REQUEST')
      }
    ),

    row('S4.2-values: degree has the values 1, 2 and 3+, which is three or more', async (t, catalog) => {
      await chain(catalog)
      t.strictSame(await keep(catalog, [{ and: [degree('1')] }]), [`1 ${one}`])
      t.strictSame(await keep(catalog, [{ and: [degree('3+')] }]), [`3 ${three}`, `4 ${chart}`])
      t.strictSame(await keep(catalog, [{ and: [degree('1', '2')] }]), [`1 ${one}`, `2 ${two}`])
      const wrong = await catalog.scroll({
        urn: start,
        direction: 'DOWNSTREAM',
        orFilters: [{ and: [degree('3')] }]
      })
      t.strictSame(
        [wrong.reason, valueAt(wrong.json, 'errors.0.extensions.allowed')],
        ['BAD_REQUEST', ['1', '2', '3+']]
      )
    }),

    row(
      'S4.2-search: the search runs over every hop, and filters and search text combine',
      async (t, catalog) => {
        await chain(catalog)
        t.strictSame(await catalog.walk(start), [`1 ${one}`, `2 ${two}`, `3 ${three}`, `4 ${chart}`])
        t.strictSame(
          await catalog.walk(start, 'DOWNSTREAM', {
            query: 's42f.t',
            orFilters: [{ and: [degree('2', '3+')] }]
          }),
          [`2 ${two}`, `3 ${three}`]
        )
        t.strictSame(
          await catalog.walk(start, 'DOWNSTREAM', { types: ['CHART'], query: '*' }),
          [`4 ${chart}`],
          'a type filters results, not the way'
        )
      }
    )
  ]
}
