/** Filters by parts of names: the words that the index is asked for, and the comparison itself. */
import t from 'tap'
import { entityFilterFields } from '../shared/catalog/lineage/filter-fields.ts'
import { checkFilters, matcherOf } from '../shared/catalog/lineage/lineage-filters.ts'
import { checkEntityQuestion } from '../shared/catalog/search/search-question.ts'
import { placedWords, wordsOfPart } from '../shared/model/search-words.ts'
import { dataset } from './support/changes.ts'
import { fc } from './support/fast-check.ts'

/** Signs that join letters, letters that become others in lower case, and words without spaces. */
const signs = [
  'a',
  'b',
  'O',
  'R',
  '7',
  '.',
  '_',
  '-',
  ' ',
  '=',
  '\u0301',
  '\u0338',
  '\u212a',
  '\u0130',
  '漢',
  'ａ',
  '･'
]
const aName = fc.array(fc.constantFrom(...signs), { minLength: 1, maxLength: 14 }).map((all) => all.join(''))

t.test('every name with the part has the words that the index is asked for', async (t) => {
  let count = 0
  fc.assert(
    fc.property(aName, fc.nat(13), fc.nat(14), fc.boolean(), (name, begin, length, isEnd) => {
      const text = name.toLowerCase()
      const part = isEnd ? text.slice(begin) : text.slice(begin, begin + length)
      if (!/^[\x20-\x7e]+$/.test(part)) return
      const words = placedWords(name).map(({ word }) => word)
      for (const { word, isBeginning } of wordsOfPart(part, isEnd)) {
        count += 1
        if (!words.some((own) => (isBeginning ? own.startsWith(word) : own === word)))
          throw new Error(`${JSON.stringify(name)} contains ${JSON.stringify(part)} and lacks ${word}`)
      }
    }),
    { numRuns: 20_000 }
  )
  t.ok(count > 100, `${count} words are looked for`)
})

t.test('CONTAIN and END_WITH use the index if a word is known, and otherwise read all names', async (t) => {
  const wordsOf = (condition: string, ...values: string[]): string | null =>
    checkEntityQuestion({ query: '*', orFilters: [{ and: [{ field: 'name', condition, values }] }] }).words
  for (const [condition, value, lexeme] of [
    ['CONTAIN', 'sales.Orders_', "'orders'"],
    ['CONTAIN', 'fct_ord', "'or':*"],
    ['CONTAIN', '.orders', "'order':*"],
    ['END_WITH', 'shop.orders', "'orders'"],
    ['END_WITH', '_v2', "'v2'"]
  ] as const)
    t.match(wordsOf(condition, value), lexeme, `${condition} ${value}`)
  for (const [condition, value] of [
    ['CONTAIN', 'orders'],
    ['CONTAIN', 'x_o'],
    ['CONTAIN', '.über'],
    ['CONTAIN', '..'],
    ['END_WITH', 'orders'],
    ['END_WITH', 'orders.']
  ] as const)
    t.equal(wordsOf(condition, value), null, `${condition} ${value} may be inside of any word`)
  t.equal(wordsOf('CONTAIN', 'shop.orders', 'orders'), null, 'one value that no index serves is enough')
})

t.test('one comparison with many values is the same as a comparison with each', async (t) => {
  const text = fc
    .array(fc.constantFrom(...'aB.*+?^$(){}[]|\\/-\n'.split('')), { minLength: 1, maxLength: 6 })
    .map((all) => all.join(''))
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 2, maxLength: 4 }), text, async (values, name) => {
      const filters = checkFilters(
        [{ and: [{ field: 'name', condition: 'CONTAIN', values }] }],
        entityFilterFields,
        'input'
      )
      const nothing = (): never => {
        throw new Error('a filter by names looks no domain up')
      }
      const { whole } = await matcherOf({ find: nothing, domainTree: nothing }, filters)
      const common = {
        entityType: 'dataset',
        platformUrn: null,
        origin: null,
        isRemoved: false,
        domainId: null,
        degree: null
      }
      const holds = whole({
        common,
        urn: dataset('unlike'),
        documents: new Map([['datasetProperties', { name }]]),
        hasEdges: null
      })
      const expected = [name, 'unlike'].some((own) =>
        values.some((value) => own.toLowerCase().includes(value.toLowerCase()))
      )
      if (holds !== expected) throw new Error(`${JSON.stringify({ name, values })}: ${holds}`)
    }),
    { numRuns: 3_000 }
  )
  t.pass('for signs that mean something in patterns')
})
