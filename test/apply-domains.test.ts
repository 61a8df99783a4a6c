/** The domain tree and the assets in it: names, places, cycles and depth are checked when they change. */
import t, { type Test } from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { readAspect } from '../shared/catalog/entities/read-aspects.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { limits } from '../shared/limits.ts'
import type { Change, JsonObject } from '../shared/model/changes.ts'
import type { Urn } from '../shared/urn/urn.ts'
import {
  apply,
  applyAsChunk,
  asCall,
  create,
  createDomain,
  dataset,
  deleteAspect,
  domain,
  hardDelete,
  inDomain,
  job,
  openLoad,
  outcomeOf,
  patch,
  record,
  refusalOf,
  setDomain,
  unsetDomain,
  upsert,
  valueOf
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { changedTables, tableChecksums } from './support/table-checksums.ts'

const [top, other, below, deep] = ['top', 'other', 'below', 'deep'].map(domain) as [Urn, Urn, Urn, Urn]
const rename = (domainUrn: Urn, name: string): Change => ({ kind: 'renameDomain', domainUrn, name })
const describe = (domainUrn: Urn, description: string): Change => ({
  kind: 'describeDomain',
  domainUrn,
  description
})
const move = (domainUrn: Urn, parentDomain: Urn | null): Change => ({
  kind: 'moveDomain',
  domainUrn,
  parentDomain
})
const remove = (domainUrn: Urn): Change => ({ kind: 'deleteDomain', domainUrn })

/** The tree in the mirror table: `child < parent`. */
const tree = async (db: Db): Promise<string[]> =>
  (
    await query<{ line: string }>(
      db,
      `
  select concat(child.urn, ' "', domain.name, '" < ', parent.urn) as line
  from domain
  join entity as child on child.id = domain.entity_id
  left join entity as parent on parent.id = domain.parent_id
  order by 1`
    )
  ).map((row) => row.line.replaceAll('urn:li:domain:', ''))

async function refusesWithoutTrace(
  t: Test,
  db: Db,
  code: string,
  message: RegExp,
  ...changes: Change[]
): Promise<void> {
  const before = await tableChecksums(db)
  const refusal = await refusalOf(apply(db, ...changes))
  t.equal(refusal.code, code)
  t.match(refusal.message, message)
  t.same(changedTables(before, await tableChecksums(db)), [])
}

t.test('domains', async (t) => {
  const { db } = await withDatabase(t)

  await t.test('are created, also under one that is created in the same call, named after it', async (t) => {
    await apply(
      db,
      createDomain(deep, 'Deep', below),
      createDomain(below, 'Below', top),
      createDomain(top, 'Top')
    )
    await applyCall(
      db,
      [record(0, createDomain(domain('x1'), 'X', domain('x2'))), record(1, createDomain(domain('x2'), 'X'))],
      asCall()
    )
    t.same(await tree(db), [
      'below "Below" < top',
      'deep "Deep" < below',
      'top "Top" < ',
      'x1 "X" < x2',
      'x2 "X" < '
    ])
    const value = await valueOf(db, below, 'domainProperties')
    t.match(value, {
      name: 'Below',
      parentDomain: top,
      customProperties: {},
      created: { actor: 'urn:li:corpuser:somebody' }
    })
    t.same(await valueOf(db, below, 'domainKey'), { id: 'below' })
  })
  await t.test('a sibling of the name is a CONFLICT, in the words that clients know', async (t) => {
    await refusesWithoutTrace(
      t,
      db,
      'CONFLICT',
      /^"Top" already exists in this domain\. Please pick a unique name\.$/,
      createDomain(other, 'Top')
    )
    await refusesWithoutTrace(
      t,
      db,
      'CONFLICT',
      /already exists in this domain/,
      createDomain(other, 'Other'),
      createDomain(domain('o2'), 'Other')
    )
    await refusesWithoutTrace(
      t,
      db,
      'CONFLICT',
      /already exists in this domain/,
      createDomain(other, 'Below', top)
    )
    await apply(db, createDomain(other, 'Below'))
    await refusesWithoutTrace(t, db, 'CONFLICT', /^"Top" already exists in this domain/, rename(other, 'Top'))
    await refusesWithoutTrace(
      t,
      db,
      'CONFLICT',
      /^"Below" already exists in the destination domain/,
      move(other, top)
    )
    await refusesWithoutTrace(
      t,
      db,
      'CONFLICT',
      /^"Below" already exists in the destination domain/,
      move(below, null)
    )
    t.equal(await outcomeOf(db, rename(other, 'Below')), 'unchanged')
    await apply(
      db,
      rename(other, 'Free'),
      createDomain(domain('o2'), 'Below'),
      rename(domain('o2'), 'Third'),
      rename(other, 'Below')
    )
    await apply(db, remove(domain('o2')))
  })
  await t.test('one that exists is not created again by a call', async (t) => {
    await refusesWithoutTrace(
      t,
      db,
      'BAD_REQUEST',
      /^This Domain already exists!$/,
      createDomain(top, 'Another')
    )
  })
  await t.test('are renamed, described and moved', async (t) => {
    await apply(db, rename(other, 'Other'), describe(other, 'What it is'), move(other, deep))
    t.match(await valueOf(db, other, 'domainProperties'), {
      name: 'Other',
      description: 'What it is',
      parentDomain: deep
    })
    await apply(db, move(other, null))
    t.notOk('parentDomain' in ((await valueOf(db, other, 'domainProperties')) as object))
    t.match(await tree(db), [
      'below "Below" < top',
      'deep "Deep" < below',
      'other "Other" < ',
      'top "Top" < '
    ])
  })
  await t.test('are never their own ancestors, whichever way they are moved', async (t) => {
    await refusesWithoutTrace(t, db, 'CONFLICT', /descendants/, move(top, deep))
    await refusesWithoutTrace(t, db, 'CONFLICT', /descendants/, move(top, top))
    await refusesWithoutTrace(
      t,
      db,
      'CONFLICT',
      /descendants/,
      upsert(top, 'domainProperties', { name: 'Top', parentDomain: deep })
    )
    await refusesWithoutTrace(
      t,
      db,
      'CONFLICT',
      /descendants/,
      patch(top, 'domainProperties', { op: 'add', path: '/parentDomain', value: deep })
    )
    await refusesWithoutTrace(t, db, 'CONFLICT', /descendants/, move(other, deep), move(top, other))
    await refusesWithoutTrace(
      t,
      db,
      'CONFLICT',
      /descendants/,
      createDomain(domain('p'), 'P', domain('q')),
      createDomain(domain('q'), 'Q', domain('p'))
    )
  })
  await t.test(
    'are nested no deeper than the limit, and neither are the domains below one that is moved',
    async (t) => {
      const chain = Array.from({ length: limits.domainMaxDepth }, (_, index) =>
        createDomain(domain(`level${index}`), 'L', index === 0 ? undefined : domain(`level${index - 1}`))
      )
      await apply(db, ...chain.toReversed())
      await refusesWithoutTrace(
        t,
        db,
        'LIMIT_EXCEEDED',
        /nested/,
        createDomain(domain('over'), 'Over', domain(`level${limits.domainMaxDepth - 1}`))
      )
      await refusesWithoutTrace(
        t,
        db,
        'LIMIT_EXCEEDED',
        /nested/,
        move(top, domain(`level${limits.domainMaxDepth - 3}`))
      )
      await refusesWithoutTrace(
        t,
        db,
        'LIMIT_EXCEEDED',
        /nested/,
        createDomain(domain('n1'), 'N1'),
        createDomain(domain('n2'), 'N2', domain('n1')),
        createDomain(domain('n3'), 'N3', domain('n2')),
        move(domain('n1'), domain(`level${limits.domainMaxDepth - 3}`))
      )
      await apply(db, move(top, domain(`level${limits.domainMaxDepth - 4}`)))
      await apply(db, move(top, null))
    }
  )
  await t.test("a proposal may repeat a sibling's name, and creates", async (t) => {
    await apply(db, upsert(domain('twin'), 'domainProperties', { name: 'Top' }))
    t.ok((await tree(db)).includes('twin "Top" < '))
    await refusesWithoutTrace(
      t,
      db,
      'VALIDATION_FAILED',
      /name/,
      patch(domain('twin'), 'domainProperties', { op: 'remove', path: '/name' })
    )
    await apply(db, remove(domain('twin')))
  })
  await t.test(
    'one with child domains is not deleted; after a deletion its assets are in no domain',
    async (t) => {
      await apply(
        db,
        ...create(dataset('a'), dataset('b')),
        setDomain(dataset('a'), deep),
        setDomain(dataset('b'), below)
      )
      await refusesWithoutTrace(
        t,
        db,
        'CONFLICT',
        /^Cannot delete domain urn:li:domain:below which has child domains$/,
        remove(below)
      )
      t.equal(await outcomeOf(db, remove(deep)), 'applied')
      t.same(await valueOf(db, dataset('a'), 'domains'), inDomain(null))
      t.equal(await valueOf(db, deep, 'domainProperties'), null)
      t.equal(await valueOf(db, deep, 'domainKey'), null)
      await refusesWithoutTrace(t, db, 'MISSING_REFERENCE', /deep/, remove(deep))
      await refusesWithoutTrace(t, db, 'MISSING_REFERENCE', /deep/, setDomain(dataset('a'), deep))
      await applyCall(
        db,
        [record(0, createDomain(deep, 'Deep anew', below)), record(1, setDomain(dataset('a'), deep))],
        asCall()
      )
      t.same(await valueOf(db, dataset('a'), 'domains'), inDomain(deep))
      await applyCall(db, [record(0, remove(deep)), record(1, remove(below))], asCall())
      t.same(
        (await tree(db)).filter((line) => !line.startsWith('level')),
        ['other "Other" < ', 'top "Top" < ', 'x1 "X" < x2', 'x2 "X" < ']
      )
    }
  )
  await t.test(
    'in a load, creating one that exists changes it, and a second run of the file changes nothing',
    async (t) => {
      const lines = [
        record(1, createDomain(domain('l2'), 'L2', domain('l1'))),
        record(2, createDomain(domain('l1'), 'L1')),
        record(3, createDomain(domain('l3'), 'L1'))
      ]
      t.same(
        (await applyAsChunk(db, await openLoad(db), lines)).map((verdict) => verdict.outcome),
        ['applied', 'applied', 'rejected']
      )
      t.same(
        (await applyAsChunk(db, await openLoad(db), lines.slice(0, 2))).map((verdict) => verdict.outcome),
        ['unchanged', 'unchanged']
      )
      t.same(
        (
          await applyAsChunk(db, await openLoad(db), [record(1, createDomain(domain('l2'), 'L2 renamed'))])
        ).map((verdict) => verdict.outcome),
        ['applied']
      )
      t.ok((await tree(db)).includes('l2 "L2 renamed" < '))
    }
  )
})

t.test('an asset is in one domain at most', async (t) => {
  const { db } = await withDatabase(t)
  const asset = dataset('asset')
  await apply(db, ...create(asset, job('j')), createDomain(top, 'Top'), createDomain(other, 'Other'))
  t.equal(await valueOf(db, asset, 'domains'), null)
  t.equal(await outcomeOf(db, unsetDomain(asset)), 'unchanged')
  t.equal(await outcomeOf(db, setDomain(asset, top)), 'applied')
  t.equal(await outcomeOf(db, setDomain(asset, top)), 'unchanged')
  t.equal(await outcomeOf(db, setDomain(asset, other)), 'applied')
  t.same(await valueOf(db, asset, 'domains'), inDomain(other))
  t.equal((await readAspect(db, asset, 'domains'))?.version, 2)
  t.equal(await outcomeOf(db, unsetDomain(asset)), 'applied')
  t.same(await valueOf(db, asset, 'domains'), inDomain(null))
  await apply(db, upsert(asset, 'domains', { domains: [top] }))
  t.equal(
    (await refusalOf(apply(db, upsert(asset, 'domains', { domains: [other] }, 'CREATE')))).code,
    'VALIDATION_FAILED'
  )
  t.equal(
    (
      await refusalOf(
        apply(db, upsert(asset, 'domains', { domains: [other] }, 'UPSERT', { ifVersionMatch: 3 }))
      )
    ).code,
    'PRECONDITION_FAILED'
  )
  await apply(db, upsert(asset, 'domains', { domains: [other] }, 'UPSERT', { ifVersionMatch: 4 }))
  t.same(await valueOf(db, asset, 'domains'), inDomain(other))
  t.equal(
    (await refusalOf(apply(db, patch(asset, 'domains', { op: 'add', path: `/domains/${top}`, value: top }))))
      .code,
    'VALIDATION_FAILED',
    'a patch may not leave two'
  )
  await apply(
    db,
    patch(
      asset,
      'domains',
      { op: 'remove', path: `/domains/${other}` },
      { op: 'add', path: `/domains/${top}`, value: top }
    )
  )
  t.same(await valueOf(db, asset, 'domains'), inDomain(top))
  const associations = {
    domains: [top],
    domainAssociations: [{ domain: top, context: '{}', attribution: { time: 0, actor: 'urn:li:corpuser:x' } }]
  }
  await apply(db, upsert(asset, 'domains', associations))
  t.same(await valueOf(db, asset, 'domains'), associations, 'what is said beside it is kept')
  t.equal(await outcomeOf(db, deleteAspect(asset, 'domains')), 'applied')
  t.same(await valueOf(db, asset, 'domains'), inDomain(null))
  t.equal((await refusalOf(apply(db, setDomain(other, top)))).code, 'BAD_REQUEST', 'a domain is no asset')
})

/** The first write, the write over it, and what is read back; a text is the code of a refusal. */
type Written = [says: string, before: Change | null, write: Change, left: JsonObject | null | string]

t.test('the two lists of the aspect domains move together', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, createDomain(top, 'Top'), createDomain(other, 'Other'))
  const asset = dataset('written')
  const attributed = {
    domain: top,
    attribution: { time: 0, actor: 'urn:li:corpuser:x', source: 'urn:li:dataHubAction:x' }
  }
  const put = (value: JsonObject): Change => upsert(asset, 'domains', value)
  // In the form of DataHub's patch builder for add_domain and remove_domain.
  const add = (urn: Urn): Change => ({
    kind: 'patchAspect',
    entityUrn: asset,
    aspectName: 'domains',
    patch: {
      arrayPrimaryKeys: { domainAssociations: ['attribution\u241fsource', 'domain'] },
      patch: [{ op: 'add', path: `/domainAssociations//${urn}`, value: { domain: urn } }]
    }
  })
  const take = (urn: Urn): Change => ({
    kind: 'patchAspect',
    entityUrn: asset,
    aspectName: 'domains',
    patch: {
      arrayPrimaryKeys: { domainAssociations: ['domain'] },
      patch: [{ op: 'remove', path: `/domainAssociations/${urn}` }]
    }
  })
  const ways: [string, Change][] = [
    ['the aspect', put({ domains: [top] })],
    ['an association', put({ domains: [], domainAssociations: [{ domain: top }] })],
    ['setDomain', setDomain(asset, top)]
  ]

  const cases: Written[] = [
    ...ways.flatMap(([way, first]): Written[] => [
      [`remove_domain after ${way}`, first, take(top), inDomain(null)],
      [`remove_domain of another after ${way}`, first, take(other), inDomain(top)],
      [`add_domain of a second after ${way}`, first, add(other), 'VALIDATION_FAILED'],
      [`add_domain of the same after ${way}`, first, add(top), inDomain(top)],
      [
        `a second in domains after ${way}`,
        first,
        patch(asset, 'domains', { op: 'add', path: `/domains/${other}`, value: other }),
        'VALIDATION_FAILED'
      ],
      [
        `both lists read back, domains edited, after ${way}`,
        first,
        put({ domains: [other], domainAssociations: [{ domain: top }] }),
        inDomain(other)
      ],
      [
        `both lists read back, associations edited, after ${way}`,
        first,
        put({ domains: [top], domainAssociations: [{ domain: other }] }),
        inDomain(other)
      ],
      [
        `both lists read back, domains emptied, after ${way}`,
        first,
        put({ domains: [], domainAssociations: [{ domain: top }] }),
        inDomain(null)
      ],
      [
        `both lists read back, associations emptied, after ${way}`,
        first,
        put({ domains: [top], domainAssociations: [] }),
        inDomain(null)
      ],
      [
        `a patch that removes domains after ${way}`,
        first,
        patch(asset, 'domains', { op: 'remove', path: '/domains' }),
        inDomain(null)
      ],
      [
        `a patch that removes domainAssociations after ${way}`,
        first,
        patch(asset, 'domains', { op: 'remove', path: '/domainAssociations' }),
        inDomain(null)
      ],
      [
        `domains of another and no associations after ${way}`,
        first,
        put({ domains: [other], domainAssociations: [] }),
        'VALIDATION_FAILED'
      ],
      [
        `no domains, which must be sent, and another association after ${way}`,
        first,
        put({ domains: [], domainAssociations: [{ domain: other }] }),
        inDomain(other)
      ]
    ]),
    [
      'a domain without associations on a fresh asset',
      null,
      put({ domains: [top], domainAssociations: [] }),
      inDomain(top)
    ],
    [
      'an association and no domain on a fresh asset',
      null,
      put({ domains: [], domainAssociations: [{ domain: top }] }),
      inDomain(top)
    ],
    ['an empty list on a fresh asset', null, put({ domains: [] }), inDomain(null)],
    [
      'two that contradict each other on a fresh asset',
      null,
      put({ domains: [top], domainAssociations: [{ domain: other }] }),
      'VALIDATION_FAILED'
    ],
    [
      'domains alone, over an attribution',
      put({ domains: [top], domainAssociations: [attributed] }),
      put({ domains: [top] }),
      { domains: [top], domainAssociations: [attributed] }
    ],
    [
      'another domain, over an attribution',
      put({ domains: [top], domainAssociations: [attributed] }),
      put({ domains: [other] }),
      inDomain(other)
    ],
    ['nothing unset on a fresh asset', null, unsetDomain(asset), null]
  ]
  for (const [says, first, write, left] of cases) {
    await t.test(says, async (t) => {
      await apply(db, ...create(asset))
      if (first) await apply(db, first)
      if (typeof left === 'string') {
        const before = await valueOf(db, asset, 'domains')
        t.equal((await refusalOf(apply(db, write))).code, left)
        t.same(await valueOf(db, asset, 'domains'), before)
      } else {
        await apply(db, write)
        t.same(await valueOf(db, asset, 'domains'), left)
      }
      await apply(db, hardDelete(asset))
    })
  }
})
