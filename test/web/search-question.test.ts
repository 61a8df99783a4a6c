/** The question of the search page: its filters in the address, and as a command. */
import t from 'tap'
import type { Facet, Filter } from '../../web/src/api/queries.ts'
import { optionsOf } from '../../web/src/pages/search-facets.ts'
import {
  addressWith,
  asAsked,
  questionIn,
  searchCommand,
  toggled,
  without
} from '../../web/src/pages/search-question.ts'
import { fc } from '../support/fast-check.ts'

const hive = 'urn:li:dataPlatform:hive'
const asking = (words: string, filters: readonly Filter[]) => ({ words, filters, sort: '' })

t.test('filters survive the address, whatever their values contain', async () => {
  const field = fc.constantFrom('platform', '_entityType', 'domains')
  fc.assert(
    fc.property(
      fc.string(),
      fc.uniqueArray(fc.tuple(field, fc.string()), { maxLength: 6 }),
      (words, pairs) => {
        const filters = pairs.reduce<Filter[]>(
          (all, [field, value]) =>
            all.some((each) => each.field === field && each.values.includes(value))
              ? all
              : toggled(all, field, value),
          []
        )
        const params = new URL(addressWith(words, filters, 'name'), 'http://a/ui/').searchParams
        const question = questionIn(params)
        return (
          question.words === (words || '*') &&
          question.sort === 'name' &&
          JSON.stringify(question.filters) === JSON.stringify(filters)
        )
      }
    )
  )
})

t.test('a filter is set and removed again', async (t) => {
  const chosen = toggled([], 'platform', hive)
  t.strictSame(chosen, [{ field: 'platform', values: [hive] }])
  t.strictSame(toggled(chosen, 'platform', hive), [])
  t.strictSame(without(toggled(chosen, 'platform', 'b'), 'platform', hive), [
    { field: 'platform', values: ['b'] }
  ])
})

t.test('the command asks the same, and uses curl if the command line has no option', async (t) => {
  t.equal(
    searchCommand(
      asking("it's", [
        { field: 'platform', values: [hive] },
        { field: '_entityType', values: ['CHART', 'DATASET'] }
      ]),
      50
    ),
    `tributary search 'it'\\''s' --platform '${hive}' --types 'CHART,DATASET'`
  )
  t.equal(
    searchCommand(asking('*', [{ field: 'domains', values: ['urn:li:domain:a'] }]), 50),
    `tributary search '*' --domain 'urn:li:domain:a'`
  )
  const curl = searchCommand(
    asking("it's", [{ field: 'domains', values: ['urn:li:domain:a', 'urn:li:domain:b'] }]),
    50
  )
  t.match(searchCommand({ ...asking('*', []), sort: 'name' }, 50), /^curl /, 'nor for the order')
  t.match(searchCommand(asking('*', [{ field: 'domains', values: ['none'] }]), 50), /^curl /)
  t.match(curl, /^curl -sSf "\$TRIBUTARY_URL\/"'api\/graphql' -H "Authorization: Bearer \$TRIBUTARY_TOKEN" /)
  const body = / -d '([^]*)'$/.exec(curl)?.[1]?.replaceAll("'\\''", "'") ?? ''
  t.match(JSON.parse(body).variables, {
    query: "it's",
    count: 50,
    groups: [
      {
        and: [
          { field: 'domains', values: ['urn:li:domain:a', 'urn:li:domain:b'], condition: 'DESCENDANTS_INCL' }
        ]
      }
    ]
  })
})

t.test('a filter by domain includes its sub-domains, and nothing else is changed', async (t) => {
  const platform = { field: 'platform', values: [hive] }
  const inside = { field: 'domains', values: ['a', 'b'], condition: 'DESCENDANTS_INCL' }
  const nowhere = { field: 'domains', values: [], condition: 'EXISTS', negated: true }
  const groupsOf = (...filters: Filter[]) => asAsked(asking('*', filters), 50).groups
  t.strictSame(groupsOf(), [])
  t.strictSame(groupsOf(platform), [{ and: [platform] }])
  t.strictSame(groupsOf(platform, { field: 'domains', values: ['a', 'b'] }), [{ and: [platform, inside] }])
  t.strictSame(groupsOf(platform, { field: 'domains', values: ['a', 'none', 'b'] }), [
    { and: [platform, inside] },
    { and: [platform, nowhere] }
  ])
  t.ok(asAsked(asking('*', [{ field: 'domains', values: ['none'] }]), 50).types?.includes('DATASET'))
  t.equal(asAsked(asking('*', [{ field: 'domains', values: ['a'] }]), 50).types, null)
})

const domainOf = (id: string, name: string, parents: readonly string[] = []) => ({
  urn: `urn:li:domain:${id}`,
  type: 'DOMAIN',
  described: { domainName: name },
  parentDomains: {
    domains: parents.map((parent) => ({ urn: `urn:li:domain:${parent}`, properties: { name: parent } }))
  }
})
const counted = (entity: ReturnType<typeof domainOf>, count: number) => ({
  value: entity.urn,
  count,
  displayName: null,
  entity
})

t.test('a domain in the list of filters counts its sub-domains', async (t) => {
  const options = (aggregations: Facet['aggregations']) =>
    optionsOf({ field: 'domains', displayName: 'Domain', isEstimate: false, aggregations }).map(
      ({ value, name, count }) => `${value.slice('urn:li:domain:'.length)} ${name} ${count}`
    )
  t.strictSame(
    options([
      counted(domainOf('a1', 'North', ['a']), 200),
      counted(domainOf('b1', 'North', ['b']), 20),
      counted(domainOf('a', 'a'), 17),
      counted(domainOf('a1x', 'Shops', ['a1', 'a']), 15)
    ]),
    ['a a 232', 'a1 a › North 215', 'b b 20', 'b1 b › North 20', 'a1x a › a1 › Shops 15'],
    'also a parent in which nothing is directly'
  )
  t.strictSame(options([]), [])
  t.strictSame(options([counted(domainOf('loop', 'loop', ['loop']), 3)]), ['loop loop › loop 3'])
  t.strictSame(
    optionsOf({
      field: '_entityType',
      displayName: null,
      isEstimate: false,
      aggregations: [{ value: 'DATASET', count: 4, displayName: null, entity: null }]
    }),
    [{ value: 'DATASET', name: 'Dataset', count: 4 }]
  )
})
