/** The question of the search page: its filters in the address, and as a command. */
import t from 'tap'
import type { Filter } from '../../web/src/api/queries.ts'
import {
  addressWith,
  filtersOf,
  searchCommand,
  toggled,
  without
} from '../../web/src/pages/search-question.ts'
import { fc } from '../support/fast-check.ts'

const hive = 'urn:li:dataPlatform:hive'

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
        const params = new URL(addressWith(words, filters), 'http://a/ui/').searchParams
        return params.get('q') === words && JSON.stringify(filtersOf(params)) === JSON.stringify(filters)
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
      "it's",
      [
        { field: 'platform', values: [hive] },
        { field: '_entityType', values: ['CHART', 'DATASET'] }
      ],
      50
    ),
    `tributary search 'it'\\''s' --platform '${hive}' --types 'CHART,DATASET'`
  )
  const curl = searchCommand("it's", [{ field: 'domains', values: ['urn:li:domain:a'] }], 50)
  t.match(curl, /^curl -sSf "\$TRIBUTARY_URL\/"'api\/graphql' -H "Authorization: Bearer \$TRIBUTARY_TOKEN" /)
  const body = / -d '([^]*)'$/.exec(curl)?.[1]?.replaceAll("'\\''", "'") ?? ''
  t.strictSame(JSON.parse(body).variables, {
    query: "it's",
    start: 0,
    count: 50,
    filters: [{ field: 'domains', values: ['urn:li:domain:a'] }]
  })
})
