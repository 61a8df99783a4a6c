/**
 * Domains that are soft-deleted, and names of domains that look the same: what is in the way of a new domain,
 * what can be put into one, and what an export lists.
 */
import t from 'tap'
import type { JsonObject } from '../shared/model/changes.ts'
import { comparableName } from '../shared/model/comparable-name.ts'
import type { Urn } from '../shared/urn/urn.ts'
import {
  apply,
  applyAsChunk,
  create,
  createDomain,
  dataset,
  domain,
  endLoad,
  inDomain,
  openLoad,
  record,
  refusalOf,
  setDomain,
  upsert,
  valueOf
} from './support/changes.ts'
import { withServer } from './support/server.ts'

const [a, b, c] = [dataset('a'), dataset('b'), dataset('c')]
const remove = (urn: Urn): ReturnType<typeof upsert> => upsert(urn, 'status', { removed: true })

t.test('names that look the same are the same name', async (t) => {
  const same: [string, string][] = [
    ['Ventes \u00e9t\u00e9', 'Ventes e\u0301te\u0301'],
    ['North Sea', 'North  Sea'],
    ['North Sea', 'North\u00a0Sea'],
    ['North Sea', ' North Sea\u3000'],
    ['North Sea', 'North\u200b Sea'],
    ['North Sea', 'Nor\u00adth S\u2060ea\ufeff'],
    ['\u00e9', 'e\u200d\u0301'],
    ['\u1112\u1161\u11ab', '\ud55c']
  ]
  for (const [one, other] of same) t.equal(comparableName(one), comparableName(other), JSON.stringify(other))
  for (const other of ['north sea', 'NorthSea', 'North-Sea', 'N\u00f6rth Sea'])
    t.not(comparableName('North Sea'), comparableName(other), other)

  const server = await withServer(t)
  await apply(server.db, createDomain(domain('top'), 'Top'))
  const createNamed = async (name: string, more: JsonObject = {}): Promise<string> => {
    const { body } = await server.graphql(
      'mutation ($input: CreateDomainInput!) { createDomain(input: $input) }',
      { input: { name, ...more } }
    )
    return body.errors?.[0].extensions.reason ?? 'created'
  }
  for (const [index, [one, other]] of same.entries()) {
    const parentDomain = domain(`place${index}`)
    await apply(server.db, createDomain(parentDomain, `Place ${index}`))
    t.equal(await createNamed(one, { parentDomain }), 'created')
    t.equal(await createNamed(other, { parentDomain }), 'CONFLICT', JSON.stringify(other))
    t.equal(await createNamed(other, { parentDomain: domain('top') }), 'created', 'elsewhere it is free')
    t.equal(await createNamed(one, { parentDomain: domain('top') }), 'CONFLICT', JSON.stringify(one))
    t.equal(
      (
        await server.graphql('mutation ($urn: String!) { deleteDomain(urn: $urn) }', {
          urn: (await childOf(server, 'urn:li:domain:top'))[0] ?? ''
        })
      ).body.data.deleteDomain,
      true
    )
  }
  t.equal(await createNamed('Caf\u00e9'), 'created')
  t.equal(await createNamed('Cafe\u0301'), 'CONFLICT', 'at the top level')

  const [first, second] = [domain('first'), domain('second')]
  await apply(server.db, createDomain(first, 'First'), createDomain(second, 'Second'))
  const renamed = await server.graphql('mutation ($input: UpdateNameInput!) { updateName(input: $input) }', {
    input: { urn: second, name: 'Fir\u200bst' }
  })
  t.match(renamed.body.errors, [{ extensions: { reason: 'CONFLICT' } }], 'a new name')
  await apply(server.db, createDomain(domain('lower'), 'Fi\u00adrst', second))
  const moved = await server.graphql('mutation ($input: MoveDomainInput!) { moveDomain(input: $input) }', {
    input: { resourceUrn: domain('lower'), parentDomain: null }
  })
  t.match(moved.body.errors, [{ extensions: { reason: 'CONFLICT' } }], 'a new place')

  const load = await openLoad(server.db)
  const verdicts = await applyAsChunk(server.db, load, [
    record(1, createDomain(domain('x1'), 'North  Sea', second)),
    record(2, createDomain(domain('x2'), 'North Sea', second)),
    record(3, createDomain(domain('x3'), 'South Sea', second))
  ])
  await endLoad(server.db, load)
  t.match(
    verdicts.map((verdict) => verdict.outcome),
    ['applied', 'rejected', 'applied'],
    'in one load'
  )
})

const childOf = async (server: Awaited<ReturnType<typeof withServer>>, urn: string): Promise<string[]> =>
  (
    await server.graphql(
      'query ($urn: String!) { listDomains(input: { parentDomain: $urn }) { domains { urn } } }',
      { urn }
    )
  ).body.data.listDomains.domains.map((each: { urn: string }) => each.urn)

t.test('a soft-deleted domain', async (t) => {
  const server = await withServer(t)
  const { db } = server
  const [gone, other, parent] = [domain('gone'), domain('other'), domain('parent')]
  await apply(
    db,
    ...create(a, b, c),
    createDomain(gone, 'Sales'),
    createDomain(parent, 'Parent'),
    setDomain(a, gone)
  )
  const before = await openLoad(db)
  await apply(db, remove(gone))

  await t.test('takes nothing in, whichever door it comes through', async (t) => {
    t.match(await refusalOf(apply(db, setDomain(b, gone))), {
      code: 'MISSING_REFERENCE',
      message: /soft-deleted/,
      details: { urn: gone }
    })
    t.match(await refusalOf(apply(db, upsert(b, 'domains', inDomain(gone)))), { code: 'MISSING_REFERENCE' })
    t.match(await refusalOf(apply(db, createDomain(domain('child'), 'Child', gone))), {
      code: 'MISSING_REFERENCE'
    })
    const batch = await server.graphql(
      'mutation ($input: BatchSetDomainInput!) { batchSetDomain(input: $input) }',
      { input: { domainUrn: gone, resources: [{ resourceUrn: b }] } }
    )
    t.match(batch.body.errors, [{ extensions: { type: 'BAD_REQUEST', urn: gone } }])
    for (const missing of ['reject', 'create']) {
      const { status, body } = await server.rest({
        method: 'POST',
        url: '/aspects?action=ingestProposal',
        headers: { 'x-missing-references': missing },
        body: {
          proposal: {
            entityType: 'dataset',
            entityUrn: b,
            changeType: 'UPSERT',
            aspectName: 'domains',
            aspect: { json: { domains: [gone] } }
          }
        }
      })
      t.match([status, body], [422, { code: 'MISSING_REFERENCE' }], missing)
    }
    const load = await openLoad(db)
    t.match(await applyAsChunk(db, load, [record(1, setDomain(b, gone))]), [
      { outcome: 'rejected', code: 'MISSING_REFERENCE' }
    ])
    await endLoad(db, load)
    t.equal(await valueOf(db, b, 'domains'), null)
  })

  await t.test('took in what was accepted before it was deleted', async (t) => {
    t.match(await applyAsChunk(db, before, [record(1, setDomain(c, gone))]), [{ outcome: 'applied' }])
    await endLoad(db, before)
  })

  await t.test('is in no export, nor are assets that are soft-deleted', async (t) => {
    await apply(db, createDomain(other, 'Other'))
    await apply(db, setDomain(b, other))
    const exported = async (): Promise<Urn[]> => {
      const { text } = await server.rest({ url: '/domains/export?format=ndjson' })
      return [a, b, c].filter((urn) => text.includes(urn))
    }
    t.strictSame(await exported(), [b])
    await apply(db, remove(b))
    t.strictSame(await exported(), [])
    await apply(db, upsert(b, 'status', { removed: false }))
    t.strictSame(await exported(), [b])
  })

  await t.test('leaves its name to others, and comes back under another one', async (t) => {
    await apply(db, createDomain(domain('new'), 'Sales'))
    t.match(await refusalOf(apply(db, createDomain(gone, 'Sales'))), { code: 'CONFLICT' })
    t.equal((await apply(db, createDomain(gone, 'Old sales')))[0]?.outcome, 'applied')
    await apply(db, setDomain(a, gone))
    t.match(await valueOf(db, gone, 'status'), { removed: false })
    t.match(await refusalOf(apply(db, createDomain(gone, 'Old sales'))), {
      message: /already exists/
    })
  })

  await t.test('takes in again what is sent together with its description', async (t) => {
    await apply(db, remove(other))
    const load = await openLoad(db)
    t.match(
      await applyAsChunk(db, load, [
        record(1, setDomain(c, other)),
        record(2, upsert(other, 'domainProperties', { name: 'Other' }))
      ]),
      [{ outcome: 'applied' }, { outcome: 'applied' }]
    )
    await endLoad(db, load)
    t.match(await valueOf(db, other, 'status'), { removed: false })
  })
})
