/** Addresses of pages hold any URN, and lead nowhere but to pages of ours. */
import t from 'tap'
import { addressOf, assetAddress, pageOf, safeNext } from '../../web/src/address.ts'
import { cardOf, hasEditableLineage, hasLineage, partsOfUrn } from '../../web/src/api/entity.ts'
import { fc } from '../support/fast-check.ts'

t.test('an address gives back the values it was made from, whatever characters they contain', async () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.string({ minLength: 1 }), (urn, tab) => {
      const { pathname, searchParams } = new URL(
        addressOf('asset', { urn, tab }),
        'http://host/any/prefix/ui/search?q=1'
      )
      t.equal(pageOf(pathname), 'asset')
      t.ok(pathname.startsWith('/any/prefix/ui/'))
      t.strictSame(
        [searchParams.get('urn'), searchParams.get('tab')],
        [urn.toWellFormed(), tab.toWellFormed()]
      )
    })
  )
})

t.test('empty values are left out', async (t) => {
  t.equal(addressOf('search', { q: '', a: null, b: undefined, c: false, d: 0 }), './search?d=0')
  t.equal(addressOf(''), './')
})

t.test('a page is the one segment below /ui/', async (t) => {
  t.strictSame(['/ui/', '/ui', '/p/ui/loads', '/ui/nothing', '/ui/a/b', '/other'].map(pageOf), [
    '',
    '',
    'loads',
    null,
    null,
    null
  ])
})

t.test('sign-in leads back only to a page of this UI', async (t) => {
  for (const next of [
    '//evil.example',
    'https://evil.example/ui/',
    '/\\evil',
    'javascript:alert(1)',
    './..//evil',
    '.\\',
    undefined
  ])
    t.equal(safeNext(next), './', String(next))
  t.equal(safeNext('./asset?urn=a'), './asset?urn=a')
})

t.test('a domain opens on the page of domains', async (t) => {
  t.match(assetAddress('urn:li:domain:x'), /^\.\/domains\?/)
  t.match(assetAddress('urn:li:dataset:x'), /^\.\/asset\?/)
})

t.test('an entity that nothing describes has the name in its URN', async (t) => {
  const nameOf = (urn: string): string => {
    const { qualifier, name } = cardOf({ urn, type: 'DATASET' })
    return `${qualifier}|${name}`
  }
  t.equal(nameOf('urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'), 'shop.|orders')
  t.equal(nameOf('urn:li:dataset:(urn:li:dataPlatform:hive,orders,PROD)'), '|orders')
  t.equal(
    nameOf('urn:li:dataset:(urn:li:dataPlatform:s3,lake/shop.eu/orders.csv,PROD)'),
    'lake/shop.eu/|orders.csv'
  )
  t.equal(nameOf('urn:li:dataset:(urn:li:dataPlatform:s3,lake/orders/,PROD)'), 'lake/|orders/')
  t.equal(nameOf('urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),load)'), 'nightly.|load')
  t.equal(nameOf('urn:li:mlFeature:(customer,age)'), 'customer.|age')
  t.equal(nameOf('urn:li:domain:finance'), '|finance')
  t.equal(nameOf('urn:li:metric:(urn:li:dataPlatform:dbt,shop,revenue)'), '|revenue')
  t.strictSame(partsOfUrn('urn:li:dataJob:(urn:li:dataFlow:(airflow,n,PROD),j)'), [
    'urn:li:dataFlow:(airflow,n,PROD)',
    'j'
  ])
})

t.test('a metric shows its lineage, which people cannot edit', async (t) => {
  const metric = 'urn:li:metric:(urn:li:dataPlatform:dbt,shop,revenue)'
  t.ok(hasLineage(metric))
  t.notOk(hasEditableLineage(metric))
  t.ok(hasEditableLineage('urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'))
})
