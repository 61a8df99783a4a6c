/**
 * Domain rules: every new asset, through every interface, is put into the domain of the first matching rule,
 * and no other asset is.
 */
import t, { type Test } from 'tap'
import { previewRules } from '../shared/catalog/domains/read-domain-rules.ts'
import { undoLoad } from '../shared/catalog/loads/undo-load.ts'
import { setDomainRules } from '../shared/catalog/write/set-domain-rules.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { limits } from '../shared/limits.ts'
import type { Change, JsonValue } from '../shared/model/changes.ts'
import { namePattern } from '../shared/model/name-pattern.ts'
import type { Urn } from '../shared/urn/urn.ts'
import {
  apply,
  applyAsChunk,
  create,
  createDomain,
  dataset,
  domain,
  endLoad,
  hardDelete,
  job,
  openLoad,
  record,
  refusalOf,
  setDomain,
  somebody,
  unsetDomain,
  upsert
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { fc, casesOf } from './support/fast-check.ts'
import { admin, dataset as urnOf, entity, withLoadBench } from './support/load-bench.ts'
import { eventAt } from './support/openlineage.ts'
import { withServer } from './support/server.ts'

const call = { actor: somebody, requestId: null }
const [sales, money, other] = ['sales', 'money', 'other'].map(domain) as [Urn, Urn, Urn]

async function withRules(db: Db, rules: readonly JsonValue[]): Promise<void> {
  await apply(db, createDomain(sales, 'Sales'), createDomain(money, 'Money'), createDomain(other, 'Other'))
  await setDomainRules(db, { rules }, call)
}

/** Assets by name with the id of their domain; null if they have none. */
async function domainsOf(db: Db): Promise<Map<string, string | null>> {
  const rows = await query<{ urn: string; domain: string | null }>(
    db,
    `
    select entity.urn, domain.urn as domain
    from entity
    left join domain_association on domain_association.entity_id = entity.id
    left join entity as domain on domain.id = domain_association.domain_id
    where entity.entity_type <> 'domain' and entity.is_present`
  )
  return new Map(rows.map((row) => [row.urn, row.domain?.replace('urn:li:domain:', '') ?? null]))
}

const domainOf = async (db: Db, urn: string): Promise<string | null | undefined> =>
  (await domainsOf(db)).get(urn)

const onlyIfNone = (entityUrn: Urn, domainUrn: Urn): Change => ({
  kind: 'setDomain',
  entityUrn,
  domainUrn,
  onlyIfNone: true
})

t.test('a pattern fits what the plain rule says', async (t) => {
  /** All ways to match `*`. */
  const fitsSlowly = (wanted: readonly string[], found: readonly string[]): boolean => {
    const [first, ...rest] = wanted
    if (first === undefined) return found.length === 0
    if (first === '*')
      return fitsSlowly(rest, found) || (found.length > 0 && fitsSlowly(wanted, found.slice(1)))
    return found.length > 0 && (first === '?' || first === found[0]) && fitsSlowly(rest, found.slice(1))
  }
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '😀'), maxLength: 8 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '😀', '*', '?'), maxLength: 8 })
  fc.assert(
    fc.property(pattern, text, (wanted, found) => {
      if (namePattern(wanted)(found) !== fitsSlowly(Array.from(wanted), Array.from(found)))
        throw new Error(`${wanted} and ${found}`)
    }),
    { numRuns: casesOf(4_000) }
  )
  t.ok(namePattern('Shop.*')('shop.orders'), 'upper and lower case alike')
  // To try all ways to match so many * would never come to its end.
  t.notOk(namePattern(`${'*a'.repeat(200)}b`)('a'.repeat(1_000)))
})

t.test('new assets', async (t) => {
  const { db } = await withDatabase(t)
  await withRules(db, [
    { platform: 'hive', name: 'shop.*', domainUrn: sales },
    { platform: 'airflow', domainUrn: money },
    { name: '*secret*', domainUrn: other },
    { platform: 'hive', namespace: 'hive', name: 'shop.late', domainUrn: other }
  ])

  await t.test('are put into the domain of the first rule that fits', async (t) => {
    await apply(db, ...create(dataset('shop.late'), dataset('a.secret'), dataset('none'), job('copy')))
    const found = await domainsOf(db)
    t.equal(found.get(dataset('shop.late')), 'sales')
    t.equal(found.get(dataset('a.secret')), 'other')
    t.equal(found.get(dataset('none')), null)
    t.equal(found.get(job('copy')), 'money')
  })

  await t.test('stay in the domain that their own call sets, or in none', async (t) => {
    await apply(
      db,
      ...create(dataset('shop.chosen')),
      setDomain(dataset('shop.chosen'), money),
      ...create(dataset('shop.left')),
      unsetDomain(dataset('shop.left')),
      ...create(dataset('shop.written')),
      upsert(dataset('shop.written'), 'domains', { domains: [other] })
    )
    const found = await domainsOf(db)
    t.equal(found.get(dataset('shop.chosen')), 'money')
    t.equal(found.get(dataset('shop.left')), null)
    t.equal(found.get(dataset('shop.written')), 'other')
  })

  await t.test('are not put back once they were taken out or moved', async (t) => {
    await apply(db, ...create(dataset('shop.out'), dataset('shop.moved')))
    await apply(db, unsetDomain(dataset('shop.out')), setDomain(dataset('shop.moved'), money))
    await apply(
      db,
      ...create(dataset('shop.out'), dataset('shop.moved')),
      upsert(dataset('shop.out'), 'datasetProperties', { description: 'again' })
    )
    const found = await domainsOf(db)
    t.equal(found.get(dataset('shop.out')), null)
    t.equal(found.get(dataset('shop.moved')), 'money')
    t.notOk(
      (await previewRules(db, {})).changes.some(({ entityUrn }) => entityUrn === dataset('shop.out')),
      'nor would they be if the rules were applied to what is there'
    )
  })

  await t.test('are new again after they were deleted for good', async (t) => {
    await apply(db, ...create(dataset('shop.again')))
    await apply(db, unsetDomain(dataset('shop.again')))
    await apply(db, hardDelete(dataset('shop.again')))
    await apply(db, ...create(dataset('shop.again')))
    t.equal(await domainOf(db, dataset('shop.again')), 'sales')
  })

  await t.test('are tried on the next rule while the domain of the first does not exist', async (t) => {
    await apply(db, { kind: 'deleteDomain', domainUrn: sales })
    await apply(db, ...create(dataset('shop.secret')))
    t.equal(await domainOf(db, dataset('shop.secret')), 'other')
    await apply(db, createDomain(sales, 'Sales'), ...create(dataset('shop.same call')))
    t.equal(await domainOf(db, dataset('shop.same call')), 'sales', 'a domain of the same call exists')
  })

  await t.test('are not looked at if there are no rules', async (t) => {
    await setDomainRules(db, { rules: [] }, call)
    await apply(db, ...create(dataset('shop.free')))
    t.equal(await domainOf(db, dataset('shop.free')), null)
    const [row] = await query<{ count: number }>(
      db,
      "select count(*)::int as count from domain_association join entity on entity.id = entity_id where urn like '%shop.free%'"
    )
    t.equal(row?.count, 0)
  })
})

t.test('new assets get their domain through every interface', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db, rest } = server
  await withRules(db, [
    { namespace: 'postgres://db:5432', domainUrn: sales },
    { namespace: 'nightly', domainUrn: money },
    { name: 'door.*', domainUrn: other }
  ])
  const event = eventAt(0, {
    eventType: 'COMPLETE',
    run: { runId: 'c5b1c3a4-0000-7000-8000-000000000001' },
    job: { namespace: 'nightly', name: 'shop.revenue' },
    inputs: [{ namespace: 'postgres://db:5432', name: 'shop.public.orders' }],
    outputs: [{ namespace: 'postgres://elsewhere', name: 'shop.public.revenue' }]
  })
  t.equal((await rest({ method: 'POST', url: '/api/v1/lineage', body: event })).status, 201)
  const proposal = {
    entityType: 'dataset',
    entityUrn: dataset('door.proposal'),
    changeType: 'UPSERT',
    aspectName: 'datasetProperties',
    aspect: { value: '{"customProperties": {}}', contentType: 'application/json' }
  }
  const proposed = await rest({
    method: 'POST',
    url: '/aspects?action=ingestProposal',
    body: { proposal }
  })
  t.equal(proposed.status, 200, proposed.text)
  const loaded = await rest({
    method: 'POST',
    url: '/loads?wait=20&missingReferences=create',
    headers: { 'content-type': 'application/x-ndjson' },
    body: [
      JSON.stringify({ op: 'upsertEntity', urn: dataset('door.load') }),
      JSON.stringify({ upstreamUrn: dataset('door.named'), downstreamUrn: dataset('door.load') })
    ].join('\n')
  })
  t.equal(loaded.body.state, 'done')
  const found = await domainsOf(db)
  const postgres = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:postgres,${name},PROD)`
  t.equal(found.get(postgres('shop.public.orders')), 'sales', 'by the namespace of the event')
  t.equal(found.get(postgres('shop.public.revenue')), null)
  t.equal(found.get('urn:li:dataJob:(urn:li:dataFlow:(spark,shop,nightly),shop.revenue)'), 'money')
  t.equal(found.get('urn:li:dataFlow:(spark,shop,nightly)'), 'money')
  t.equal(found.get(dataset('door.proposal')), 'other')
  t.equal(found.get(dataset('door.load')), 'other')
  t.notOk(found.has(dataset('door.named')), 'what is only named does not exist yet')
  await apply(db, ...create(dataset('door.named')))
  t.equal(await domainOf(db, dataset('door.named')), 'other', 'and is put there when it does')

  const { body } = await server.graphql(
    'query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }',
    {
      urn: dataset('door.load')
    }
  )
  t.equal(body.data.dataset.domain.domain.urn, other, 'readers of the graph in memory see it')
})

t.test('the domain does not depend on the order in which loads are applied', async (t) => {
  const { db } = await withDatabase(t)
  await withRules(db, [{ name: '*', domainUrn: sales }])
  const step = fc.constantFrom('make', 'set', 'leave', 'offer', 'write') satisfies fc.Arbitrary<string>
  const changesOf = (name: string, asset: Urn): Change[] => {
    const made = create(asset)
    if (name === 'set') return [...made, setDomain(asset, money)]
    if (name === 'leave') return [...made, unsetDomain(asset)]
    if (name === 'offer') return [...made, onlyIfNone(asset, other)]
    if (name === 'write') return [...made, upsert(asset, 'domains', { domains: [other] })]
    return made
  }
  let count = 0
  const play = async (
    steps: readonly string[],
    order: readonly number[]
  ): Promise<string | null | undefined> => {
    const asset = dataset(`order.${(count += 1)}`)
    const loads = []
    for (const _ of steps) loads.push(await openLoad(db, { remaining: 1 }))
    for (const place of order) {
      const [load, name] = [loads[place], steps[place]]
      if (!load || name === undefined) throw new Error('no such step')
      const [verdict] = await applyAsChunk(db, load, [record(1, ...changesOf(name, asset))])
      if (verdict?.outcome === 'rejected') throw new Error(verdict.message)
      await endLoad(db, load)
    }
    return domainOf(db, asset)
  }
  /** Computes the order of acceptance by hand. Removing an asset that is in no domain is not recorded. */
  const oracle = (steps: readonly string[]): string | null => {
    let [where, wasSaid]: [string | null, boolean] = [null, false]
    const say = (domainId: string | null): void => {
      ;[where, wasSaid] = [domainId, true]
    }
    for (const [place, name] of steps.entries()) {
      if (name === 'set') say('money')
      else if (name === 'write') say('other')
      else if (name === 'leave' && where !== null) say(null)
      else if (name === 'offer' && !wasSaid) say('other')
      else if (name === 'make' && place === 0) say('sales')
    }
    return where
  }
  const history = fc.array(step, { minLength: 1, maxLength: 4 }).chain((steps) =>
    fc.record({
      steps: fc.constant(steps),
      order: fc.shuffledSubarray([...steps.keys()], { minLength: steps.length })
    })
  )
  await fc.assert(
    fc.asyncProperty(history, async ({ steps, order }) => {
      const straight = await play(steps, [...steps.keys()])
      const mixed = await play(steps, order)
      if (straight !== oracle(steps))
        throw new Error(`${steps.join()} gives ${straight}, not ${oracle(steps)}`)
      // A rule applies only if the domain was never set or removed; it then counts what was applied.
      const isDecided =
        !steps.includes('offer') ||
        (!steps.includes('leave') && steps.some((name) => name === 'set' || name === 'write'))
      if (isDecided && mixed !== straight)
        throw new Error(`${steps.join()} in the order ${order.join()} gives ${mixed}, not ${straight}`)
    }),
    { numRuns: casesOf(120) }
  )
})

t.test('an undo also undoes what a rule did', async (t) => {
  const bench = await withLoadBench(t)
  const { db } = bench
  await withRules(db, [{ name: 'undo.*', domainUrn: sales }])
  const send = async (...records: JsonValue[]): Promise<string> => {
    const id = await bench.submit(records)
    await bench.drain()
    return id
  }
  const undo = async (id: string): Promise<string> => {
    const { id: undoId } = await undoLoad(db, bench.queue, id, { actor: admin, requestId: null })
    await bench.drain()
    return undoId
  }
  const first = await send(entity('undo.a'), entity('undo.b'))
  t.equal(await domainOf(db, urnOf('undo.a')), 'sales')
  await apply(db, setDomain(dataset('undo.b'), money))
  const undone = await undo(first)
  const after = await domainsOf(db)
  t.notOk(after.has(urnOf('undo.a')), 'the asset is gone')
  t.equal(after.get(urnOf('undo.b')), 'money', 'a domain that was set later stays, and the asset with it')
  await undo(undone)
  t.equal(await domainOf(db, urnOf('undo.a')), 'sales', 'an undo of the undo restores it')
  await undo(await undo(await send(entity('undo.c'))))
  t.equal(await domainOf(db, urnOf('undo.c')), 'sales')
  const id = await send(entity('undo.d'))
  await undo(id)
  await send(entity('undo.d'))
  t.equal(await domainOf(db, urnOf('undo.d')), 'sales', 'what is loaded again is new again')
})

t.test('over HTTP', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db, rest } = server
  await apply(db, createDomain(sales, 'Sales'), createDomain(money, 'Money'))
  const put = (body: JsonValue, token?: string) =>
    rest({ method: 'PUT', url: '/domain-rules', body, ...(token === undefined ? {} : { token }) })

  await t.test('rules are listed in their order, replaced and deleted', async (t) => {
    const rules = [
      { platform: 'hive', name: 'shop.*', domainUrn: sales },
      { namespace: 'food', domainUrn: money }
    ]
    const empty = await rest({ url: '/domain-rules' })
    t.strictSame(empty.body, { rules: [], revision: null, changedAt: null, changedBy: null })
    const { status, body } = await put({ rules })
    t.equal(status, 200)
    t.strictSame(
      body.rules,
      rules.map((rule) => ({ ...rule, exists: true }))
    )
    t.match(await rest({ url: '/domain-rules' }), { body })
    const stale = await put({ rules: [], revision: '00000000-0000-0000-0000-000000000000' })
    t.match(stale, { status: 409, body: { code: 'CONFLICT', field: 'revision' } })
    t.equal((await put({ rules, revision: body.revision })).status, 200)
    t.match(await rest({ method: 'DELETE', url: '/domain-rules' }), {
      status: 200,
      body: { rules: { length: 0 } }
    })
    const [entry] = await query<{ actor: string; count: number }>(
      db,
      "select min(actor) as actor, count(*)::int as count from audit where operation = 'setDomainRules'"
    )
    t.equal(entry?.count, 3, 'each change is in the audit trail')
  })

  await t.test('a wrong list is refused with its place, and changes nothing', async (t) => {
    await put({ rules: [{ name: 'keep', domainUrn: sales }] })
    for (const [rules, field, code] of [
      ['no list', 'rules', 'BAD_REQUEST'],
      [[1], 'rules[0]', 'BAD_REQUEST'],
      [[{ domainUrn: sales }], 'rules[0]', 'BAD_REQUEST'],
      [[{ nam: 'x', domainUrn: sales }], 'rules[0].nam', 'BAD_REQUEST'],
      [[{ name: 3, domainUrn: sales }], 'rules[0].name', 'BAD_REQUEST'],
      [[{ name: 'x'.repeat(513), domainUrn: sales }], 'rules[0].name', 'LIMIT_EXCEEDED'],
      [[{ name: 'x' }], 'rules[0].domainUrn', 'INVALID_URN'],
      [
        [
          { name: 'x', domainUrn: sales },
          { name: 'y', domainUrn: other }
        ],
        'rules[1].domainUrn',
        'MISSING_REFERENCE'
      ],
      [
        Array.from({ length: limits.domainRulesMaxCount + 1 }, () => ({ name: 'x', domainUrn: sales })),
        'rules',
        'LIMIT_EXCEEDED'
      ]
    ] as const) {
      const { body } = await put({ rules: rules as JsonValue })
      t.match(body, { code, field }, JSON.stringify(rules).slice(0, 80))
    }
    t.match(await put({ rules: [], more: 1 }), { status: 400, body: { field: 'more' } })
    t.match(await rest({ url: '/domain-rules' }), { body: { rules: [{ name: 'keep' }] } })
  })

  await t.test('only an administrator of the whole catalog changes them', async (t) => {
    const writer = await server.tokenWith(['write'])
    const limited = await server.tokenWith(['admin'], { domainUrn: sales })
    for (const token of [writer, limited]) {
      t.equal((await put({ rules: [] }, token)).status, 403)
      t.equal((await rest({ method: 'DELETE', url: '/domain-rules', token })).status, 403)
      t.equal((await rest({ method: 'POST', url: '/domain-rules/apply', token })).status, 403)
    }
    t.equal((await rest({ url: '/domain-rules', token: await server.tokenWith(['read']) })).status, 200)
    t.equal((await rest({ url: '/domain-rules', token: null })).status, 401)
  })

  await t.test('a preview lists what would change, page by page, and applying does just that', async (t) => {
    await rest({ method: 'DELETE', url: '/domain-rules' })
    const names = Array.from({ length: 25 }, (_, index) => dataset(`old.${index}`))
    await apply(db, ...create(...names, dataset('else')), setDomain(dataset('old.3'), money))
    await apply(db, setDomain(dataset('old.4'), money))
    await apply(db, unsetDomain(dataset('old.4')))
    const rules = [
      { name: 'OLD.1?', domainUrn: money },
      { name: 'old.*', domainUrn: sales }
    ]
    const preview = (body: JsonValue) => rest({ method: 'POST', url: '/domain-rules/preview', body })
    const found = new Map<string, string>()
    let after = 0
    for (;;) {
      const { body } = await preview({ rules, after, count: 10 })
      for (const { entityUrn, domainUrn, rule } of body.changes) {
        t.equal(rules[rule]?.domainUrn, domainUrn)
        found.set(entityUrn, domainUrn)
      }
      if (body.next === null) break
      after = body.next
    }
    const wanted = new Map(
      names.flatMap((urn, index) =>
        index === 3 || index === 4
          ? []
          : [[urn as string, index >= 10 && index < 20 ? money : sales] as const]
      )
    )
    t.strictSame(Object.fromEntries(found), Object.fromEntries(wanted))
    t.strictSame((await preview({})).body.changes, [], 'there are no rules in force')
    t.match(await preview({ rules: [{}] }), { status: 400, body: { field: 'rules[0]' } })
    t.match(await preview({ count: limits.pageMaxCount + 1 }), {
      status: 400,
      body: { code: 'LIMIT_EXCEEDED' }
    })

    await put({ rules })
    const applied = await rest({ method: 'POST', url: '/domain-rules/apply' })
    t.equal(applied.status, 202, applied.text)
    const load = await rest({ url: `/loads/${applied.body.load.id}?wait=20` })
    t.match(load.body, { state: 'done', counts: { received: 23, applied: 23, rejected: 0 } })
    const now = await domainsOf(db)
    for (const [urn, domainUrn] of wanted) t.equal(now.get(urn), domainUrn.replace('urn:li:domain:', ''))
    t.equal(now.get(dataset('old.3')), 'money')
    t.equal(now.get(dataset('old.4')), null)
    t.strictSame((await rest({ method: 'POST', url: '/domain-rules/apply' })).body, { load: null })
    const undone = await rest({ method: 'POST', url: `/loads/${applied.body.load.id}/undo` })
    await rest({ url: `/loads/${undone.body.id}?wait=20` })
    t.equal(await domainOf(db, dataset('old.1')), null, 'it can be undone')
  })
})

t.test('set onlyIfNone', async (t: Test) => {
  const { db } = await withDatabase(t)
  await apply(db, createDomain(sales, 'Sales'), createDomain(money, 'Money'))
  await apply(db, ...create(dataset('x')))
  await apply(db, onlyIfNone(dataset('x'), sales))
  t.equal(await domainOf(db, dataset('x')), 'sales')
  await apply(db, onlyIfNone(dataset('x'), money))
  t.equal(await domainOf(db, dataset('x')), 'sales', 'leaves a domain that is there')
  await apply(db, unsetDomain(dataset('x')))
  await apply(db, onlyIfNone(dataset('x'), money))
  t.equal(await domainOf(db, dataset('x')), null, 'leaves out what was taken out')
  t.equal((await refusalOf(apply(db, onlyIfNone(dataset('x'), other)))).code, 'MISSING_REFERENCE')
})
