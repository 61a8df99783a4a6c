/** Why a result matched, as the search page says it. */
import t from 'tap'
import { matchOf } from '../../web/src/pages/search-match.ts'
import { plainText } from '../../web/src/parts/plain-text.ts'

const shown = (words: string, name: string, fields: readonly [string, string][]): string | null => {
  const match = matchOf(
    words,
    name,
    fields.map(([field, value]) => ({ name: field, value }))
  )
  return (
    match &&
    `${match.field}: ${match.parts.map(({ text, isMark }) => (isMark ? `<${text}>` : text)).join('')}`
  )
}

t.test('a match is told unless the name shows it', async (t) => {
  t.equal(
    shown('orders', 'raw.orders', [
      ['name', 'orders'],
      ['description', 'all orders']
    ]),
    null
  )
  t.equal(shown('*', 'raw.orders', []), null)
  t.equal(shown('snowflake', 'raw.orders', [['urn', 'urn:li:dataset:(snowflake)']]), null)
  t.equal(
    shown('orders Email', 'raw.orders', [
      ['name', 'orders'],
      ['fieldPaths', 'customer_email'],
      ['fieldPaths', 'email']
    ]),
    'fieldPaths: customer_<email>, <email>'
  )
  t.equal(
    shown('ord* "paid out"', 'raw.orders', [['description', 'Paid **out** daily']]),
    'description: <Paid> <out> daily'
  )
  t.equal(shown('pii', 'users', [['tags', 'urn:li:tag:PII']]), 'tags: <PII>')
  t.equal(shown('ada', 'users', [['owners', 'urn:li:corpuser:ada']]), 'owners: <ada>')
  t.equal(
    shown('a.b (c', 'users', [['description', 'A b c']]),
    'description: <A> <b> <c>',
    'signs of patterns are no words'
  )
})

t.test('the part of a long text around the word is shown', async (t) => {
  const text =
    shown('needle', 'x', [['description', `${'hay '.repeat(100)}needle${' hay'.repeat(100)}`]]) ?? ''
  t.match(text, /^description: …[hay ]+<needle>[ hay]+…$/)
  t.ok(text.length < 180)
  t.equal(shown('hay', 'x', [['description', 'hay']]), 'description: <hay>')
})

t.test('a description is shown without the signs of Markdown', async (t) => {
  t.equal(
    plainText('One **paid** `order` of the [shop](https://x.example/y).\n\n- more'),
    'One paid order of the shop. more'
  )
  t.equal(plainText('# Title\nand _text_'), 'Title and _text_')
  t.equal(plainText('  '), '')
})
