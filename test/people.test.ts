/** Users of the identity provider over time: revoked, signed out, without a role any more, and many requests at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { admitPerson, type Identity } from '../shared/catalog/access/admit-person.ts'
import { createToken } from '../shared/catalog/access/create-token.ts'
import { listTokens } from '../shared/catalog/access/list-tokens.ts'
import { revokeToken } from '../shared/catalog/access/revoke-token.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { parseRoles } from '../shared/model/roles.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { apply, createDomain } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { finance, roles, sales, sessionOf, signIn, someGroups, withBoth } from './support/sign-in.ts'

t.test('a person', async (t) => {
  const groups = someGroups()
  const both = await withBoth(t, { groups, env: { OIDC_SESSION_HOURS: '1' } })
  const { provider, server } = both
  const { rest, db } = server
  const seconds = (): number => Math.floor(Date.now() / 1_000)
  const statusOf = async (token: string): Promise<number> =>
    (await rest({ url: '/lineage/export?urn=x', token })).status
  const isOpen = async (cookie: string): Promise<boolean> => (await sessionOf(server, cookie)).status === 200
  const rowsOf = async (actor: string) =>
    (await listTokens(db, { actorUrns: [`urn:li:corpuser:${actor}`] })).tokens
  const revoke = async (actor: string, name: RegExp): Promise<void> => {
    const row = (await rowsOf(actor)).find((each) => name.test(each.name))
    await revokeToken(db, row?.id ?? '')
  }
  /** Verdicts on tokens are remembered for a second, and the provider dates to the second. */
  const aSecondLater = (): Promise<void> => sleep(1_100)
  const refused = 401

  await t.test(
    'who is revoked cannot use an older token again, not even after a later one was used',
    async (t) => {
      const claims = { sub: 'old', preferred_username: 'old', groups: ['data'] }
      const old = await provider.sign({ ...claims, iat: seconds() - 100 })
      t.not(await statusOf(old), refused)
      await revoke('old', /JSON/)
      await aSecondLater()
      t.equal(await statusOf(old), refused)
      t.not(await statusOf(await provider.sign({ ...claims, iat: seconds() })), refused, 'a later one')
      t.equal(await statusOf(old), refused, 'the old one, after the later one')
    }
  )

  await t.test('is revoked in browsers and with tokens at once, whichever entry it is', async (t) => {
    for (const name of [/signed in/, /JSON/]) {
      const claims = { sub: 'eve', preferred_username: 'eve', groups: ['data'] }
      const { session } = await signIn(both, 'eve')
      const token = await provider.sign({ ...claims, jti: String(name) })
      t.not(await statusOf(token), refused)
      t.ok(await isOpen(session))
      await revoke('eve', name)
      t.notOk(await isOpen(session), `the session, after ${name}`)
      await aSecondLater()
      t.equal(await statusOf(token), refused, `the token, after ${name}`)
      t.ok((await rowsOf('eve')).every(({ revokedAt }) => revokedAt !== null))
      const again = await signIn(both, 'eve')
      t.ok(await isOpen(again.session), 'may sign in again')
      t.notOk(await isOpen(session), 'the session of before stays over')
      t.equal(await statusOf(token), refused, 'and so does the token')
      await aSecondLater()
    }
  })

  await t.test(
    'whose first token comes after the revocation of the session is refused with old ones',
    async (t) => {
      await signIn(both, 'guest-7')
      const token = await provider.sign({ sub: 'guest-7', iat: seconds() - 10 })
      await revoke('guest-7', /signed in/)
      t.equal(await statusOf(token), refused)
    }
  )

  await t.test('who has lost every role is signed out in all browsers, and has no rights', async (t) => {
    const { session } = await signIn(both, 'ada')
    const old = await provider.sign({ sub: 'ada', groups: ['platform'], iat: seconds() - 100 })
    t.not(await statusOf(old), refused)
    groups.ada = ['strangers']
    const { answer } = await signIn(both, 'ada')
    groups.ada = ['platform']
    t.equal(answer.headers.location, 'ui/sign-in?problem=no-role')
    t.notOk(await isOpen(session))
    t.strictSame(
      (await rowsOf('ada')).map(({ scopes }) => scopes),
      [[], []]
    )
    await aSecondLater()
    t.equal(await statusOf(old), refused, 'a token from before')
    const again = await signIn(both, 'ada')
    t.match((await sessionOf(server, again.session)).body, { scopes: ['admin'] })
    t.notOk(await isOpen(session), 'the session of before stays over')
  })

  await t.test('whose token names no role stays signed in: it may be for another client', async (t) => {
    const { session } = await signIn(both, 'fay')
    t.equal(await statusOf(await provider.sign({ sub: 'fay' })), 403)
    t.ok(await isOpen(session))
  })

  await t.test('is signed in for as long as each sign-in says, not the latest', async (t) => {
    const first = await signIn(both, 'roy')
    const endOf = async (cookie: string): Promise<number> =>
      (await sessionOf(server, cookie)).body.expiresAt - Date.now()
    const before = (await sessionOf(server, first.session)).body.expiresAt
    const within = await endOf(first.session)
    t.ok(within > 0 && within <= 3_600_000, 'for OIDC_SESSION_HOURS')
    const second = await signIn(both, 'roy')
    t.equal((await sessionOf(server, first.session)).body.expiresAt, before)
    t.ok((await sessionOf(server, second.session)).body.expiresAt > before)
    await db.raw(
      `update web_session set expires_at = now() where date_trunc('milliseconds', expires_at) = ?`,
      [new Date(before)]
    )
    t.notOk(await isOpen(first.session))
    t.ok(await isOpen(second.session))
  })

  await t.test('signs out everywhere without signing out a namesake', async (t) => {
    const mine = [await signIn(both, 'guest-7'), await signIn(both, 'guest-7')] as const
    await aSecondLater()
    const other = await signIn(both, 'roy')
    const named = await server.tokenWith(['read'], { actorUrn: 'urn:li:corpuser:roy' })
    const opened = await rest({ method: 'POST', url: '/session', token: null, body: { token: named } })
    const [cookie = ''] = String(opened.headers['set-cookie']).split(';')
    await db.raw(`update access_token set actor = 'urn:li:corpuser:roy' where subject = 'guest-7'`)
    const { csrfToken } = (await sessionOf(server, mine[0].session)).body
    const answer = await rest({
      method: 'DELETE',
      url: '/session/all',
      token: null,
      headers: { cookie: mine[0].session, 'x-csrf-token': csrfToken }
    })
    t.strictSame([answer.status, answer.body.sessions], [200, 2])
    t.match(String(answer.headers['set-cookie']), /^tributary_session=;.*Max-Age=0/, 'the cookie ends too')
    for (const { session } of mine) t.notOk(await isOpen(session))
    t.ok(await isOpen(other.session), 'another person of the same name')
    t.ok(await isOpen(cookie), 'a token of the same actor')
  })
})

t.test('admitting a person', async (t) => {
  const { db } = await withDatabase(t)
  const map = parseRoles(JSON.stringify(roles))
  const expiresAt = new Date(Date.now() + 60_000)
  const identity = (more: Partial<Identity>): Identity => ({
    issuer: 'https://id.example',
    subject: 'x',
    name: 'x',
    groups: ['data'],
    issuedAtMs: Date.now(),
    ...more
  })
  const admit = async (said: Identity, until = expiresAt) =>
    (await inTransaction(db, (tx) => admitPerson(tx, said, map, { usedBy: 'bearer', expiresAt: until })))
      .person

  await t.test('many times at once makes one row and one entry of the audit trail', async (t) => {
    const said = identity({ subject: 'many' })
    const ends = Array.from({ length: 6 }, (_, index) => new Date(expiresAt.getTime() + index))
    const admitted = await Promise.all(ends.map((end) => admit(said, end)))
    t.equal(new Set(admitted.map((each) => each?.id)).size, 1)
    const { rows } = await db.raw(`select expires_at from access_token where subject = 'many'`)
    t.same(rows, [{ expires_at: ends.at(-1) }], 'the latest end counts')
    const audit = await db.raw(`select 1 from audit where operation = 'admitPerson' and token_id = ?`, [
      admitted[0]?.id ?? ''
    ])
    t.equal(audit.rows.length, 1)
  })

  await t.test('whose provider dates its tokens in the future is refused', async (t) => {
    const inSeconds = (seconds: number): Identity =>
      identity({ subject: 'future', issuedAtMs: Date.now() + seconds * 1_000 })
    await t.rejects(admit(inSeconds(70)), { code: 'UNAUTHENTICATED' })
    t.ok(await admit(inSeconds(50)), 'clocks may differ by a minute')
  })

  await t.test('goes by the clock of the database, whatever the clock of this process says', async (t) => {
    const real = Date.now
    const hourMs = 3_600_000
    t.teardown(() => {
      Date.now = real
    })
    for (const [name, offMs] of [
      ['ahead', 10 * hourMs],
      ['behind', -10 * hourMs]
    ] as const) {
      const said = identity({ subject: name, issuedAtMs: real() })
      Date.now = () => real() + offMs
      t.ok(await admit(said), name)
      await t.rejects(admit({ ...said, issuedAtMs: real() + hourMs }), { code: 'UNAUTHENTICATED' })
      const stays = await inTransaction(db, (tx) =>
        admitPerson(tx, { ...said, groups: ['platform'] }, map, { usedBy: 'browser', maxSeconds: 60 })
      )
      const endsInMs = (stays.person?.expiresAt?.getTime() ?? 0) - real()
      t.ok(endsInMs > 0 && endsInMs <= 60_000, `a browser stays ${endsInMs} ms`)
      const { record } = await createToken(db, { name, scopes: ['read'], lifetimeMs: hourMs })
      const lastsMs = (record.expiresAt?.getTime() ?? 0) - real()
      t.ok(lastsMs > hourMs - 60_000 && lastsMs <= hourMs, `a token lasts ${lastsMs} ms`)
      await createToken(db, { name, scopes: ['read'], expiresAt: new Date(real() + hourMs) })
      const past = createToken(db, { name, scopes: ['read'], expiresAt: new Date(real() - hourMs) })
      await t.rejects(past, { code: 'BAD_REQUEST' })
      Date.now = real
    }
  })

  await t.test('as owner of a domain that does not exist gives the right to read', async (t) => {
    t.match(await admit(identity({ subject: 'owner', groups: ['finance'] })), {
      scopes: ['read'],
      domainUrns: null
    })
    t.equal(map.owner[0]?.domainUrn, finance)
  })

  await t.test('as owner of several domains gives those that exist, and follows the groups', async (t) => {
    const owner = (groups: string[]): Identity => identity({ subject: 'several', groups })
    const domainsOf = async (...groups: string[]) => (await admit(owner(groups)))?.domainUrns
    await apply(db, createDomain(toUrn(sales), 'Sales'))
    t.strictSame(await domainsOf('all-owners'), [sales], 'one of two exists')
    await apply(db, createDomain(toUrn(finance), 'Finance'))
    t.strictSame(await domainsOf('all-owners'), [finance, sales])
    t.strictSame(await domainsOf('sales', 'finance', 'everybody'), [finance, sales], 'two groups add up')
    t.strictSame(await domainsOf('finance'), [finance], 'a group less is a domain less')
    t.strictSame(await domainsOf('sales'), [sales])
    t.strictSame(await domainsOf('sales', 'data'), null, 'an editor is not limited')
    t.strictSame(await domainsOf('sales', 'finance'), [finance, sales])
    const audit = await db.raw(
      `select details->'domains' as domains from audit where operation = 'admitPerson' and actor = 'urn:li:corpuser:x' order by id desc limit 2`
    )
    t.strictSame(
      audit.rows.map((row: { domains: unknown }) => row.domains),
      [[finance, sales], null]
    )
  })
})
