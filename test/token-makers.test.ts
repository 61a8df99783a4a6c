/** Tokens that a user of the identity provider made: who made them is known, and they do not outlive their makers. */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openMakerRule } from '../api/oidc/maker-rule.ts'
import { listTokens } from '../shared/catalog/access/list-tokens.ts'
import { refuseRevoked } from '../shared/catalog/access/refuse-revoked.ts'
import { revokeToken } from '../shared/catalog/access/revoke-token.ts'
import { strictMakerRule } from '../shared/catalog/access/token-makers.ts'
import type { TokenRecord } from '../shared/store/tokens.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { runCommand } from './support/run-command.ts'
import { sessionOf, signIn, someGroups, withBoth } from './support/sign-in.ts'

const create = `mutation ($input: CreateAccessTokenInput!) {
  createAccessToken(input: $input) {
    accessToken
    note
    metadata { id makerUrn ownerUrn actorUrn makerHasRole makerAbsentDays }
  }
}`

type Made = {
  accessToken: string
  note: string | null
  metadata: {
    id: string
    makerUrn: string | null
    ownerUrn: string
    actorUrn: string
    makerHasRole: boolean | null
    makerAbsentDays: number | null
  }
}

/** A catalog with people, of whom ada and max are administrators. */
async function withPeople(t: Test, env: { [key: string]: string } = {}) {
  const groups: { [person: string]: readonly string[] } = { ...someGroups(), max: ['platform'] }
  const both = await withBoth(t, { groups, env })
  const { server, provider } = both
  const { rest, db } = server
  /** `by` is the cookie of a session, or the text of a token. */
  async function make(by: string, name: string, actor = 'etl'): Promise<Made> {
    const isCookie = by.startsWith('tributary_session=')
    const csrfToken = isCookie ? (await sessionOf(server, by)).body.csrfToken : ''
    const { body } = await rest({
      method: 'POST',
      url: '/api/graphql',
      token: isCookie ? null : by,
      headers: isCookie ? { cookie: by, 'x-csrf-token': csrfToken } : {},
      body: {
        query: create,
        variables: {
          input: {
            type: 'PERSONAL',
            actorUrn: `urn:li:corpuser:${actor}`,
            duration: 'NO_EXPIRY',
            name,
            scopes: ['admin']
          }
        }
      }
    })
    return body.data.createAccessToken
  }
  const works = async ({ accessToken }: Pick<Made, 'accessToken'>): Promise<boolean> => {
    // Verdicts on tokens are remembered for a second.
    await sleep(1_050)
    return (await rest({ url: '/loads', token: accessToken })).status === 200
  }
  const seenBefore = (days: number, person: string) =>
    db.raw(`update access_token set seen_at = now() - ?::float8 * interval '1 day' where subject = ?`, [
      days,
      person
    ])
  return { both, server, provider, groups, make, works, seenBefore, db, rest }
}

t.test('a token names its maker, in every list', async (t) => {
  const { both, server, make, db } = await withPeople(t)
  const { session } = await signIn(both, 'ada')
  const one = await make(session, 'one')
  t.match(one, {
    note: /ends when you have no role.*not signed in for 30 days/,
    metadata: {
      makerUrn: 'urn:li:corpuser:ada',
      ownerUrn: 'urn:li:corpuser:ada',
      actorUrn: 'urn:li:corpuser:etl',
      makerHasRole: true,
      makerAbsentDays: 0
    }
  })
  const two = await make(one.accessToken, 'two', 'other')
  t.match(two, {
    note: /no role/,
    metadata: { makerUrn: 'urn:li:corpuser:etl', makerHasRole: true }
  })
  const three = await make(server.token, 'three')
  t.match(three, { note: null, metadata: { makerHasRole: null, makerAbsentDays: null } })
  t.ok(three.metadata.makerUrn, 'also a token that was made with one of nobody')
  const byOperator = (await listTokens(db)).tokens.find(({ name }) => name === 'test admin')
  t.equal(byOperator?.makerUrn, null)
  const namesOf = async (filters: { field: string; values: string[] }[]): Promise<string[]> => {
    const { body } = await server.rest({
      method: 'POST',
      url: '/api/graphql',
      body: {
        query: `query ($filters: [FacetFilterInput!]) { listAccessTokens(input: { start: 0, count: 50, filters: $filters }) { total tokens { name } } }`,
        variables: { filters }
      }
    })
    const { total, tokens } = body.data.listAccessTokens
    t.equal(total, tokens.length)
    return tokens.map(({ name }: { name: string }) => name).toSorted()
  }
  const ofAda = { field: 'ownerUrn', values: ['urn:li:corpuser:ada'] }
  const ofEtl = { field: 'actorUrn', values: ['urn:li:corpuser:etl'] }
  t.strictSame(await namesOf([ofAda]), ['ada (signed in)', 'one'])
  t.strictSame(await namesOf([ofEtl]), ['one', 'three'])
  t.strictSame(await namesOf([ofAda, ofEtl]), ['one'])
  const { out } = await runCommand(['token', 'list'], {
    env: { DATABASE_URL: server.context.config.databaseUrl ?? '' }
  })
  t.match(
    out.find((line) => line.includes('\tone\t')),
    /ada/
  )
})

t.test('a sign-in without a role ends what the person made, for good', async (t) => {
  const { both, server, groups, make, works, db, rest } = await withPeople(t)
  const { session } = await signIn(both, 'ada')
  const other = await signIn(both, 'max')
  const one = await make(session, 'one')
  const two = await make(one.accessToken, 'two')
  const ofMax = await make(other.session, 'of max')
  const ofNobody = await make(server.token, 'of nobody')
  const opened = await rest({
    method: 'POST',
    url: '/session',
    token: null,
    body: { token: one.accessToken }
  })
  const [browser = ''] = String(opened.headers['set-cookie']).split(';')
  t.equal((await sessionOf(server, browser)).status, 200)
  t.ok(await works(two))

  groups.ada = ['strangers']
  const refused = await signIn(both, 'ada')
  t.match(refused.answer.headers.location, /no-role/)
  t.notOk(await works(one))
  t.notOk(await works(two), 'one that was made with one of them')
  t.equal((await sessionOf(server, browser)).status, 401, 'the session of such a token')
  t.ok(await works(ofMax))
  t.ok(await works(ofNobody))
  const audit = await db.raw(
    `select details->>'name' as name, details->>'reason' as reason from audit where operation = 'revokeAccessToken' order by 1`
  )
  t.same(audit.rows, [
    { name: 'one', reason: 'its maker has no role any more' },
    { name: 'two', reason: 'its maker has no role any more' }
  ])

  groups.ada = ['platform']
  await signIn(both, 'ada')
  t.notOk(await works(one), 'a later role does not bring it back')
})

t.test('a JSON Web Token without a role ends nothing that the person made', async (t) => {
  const { both, provider, make, works, rest } = await withPeople(t)
  const { session } = await signIn(both, 'ada')
  const one = await make(session, 'one')
  t.equal((await rest({ url: '/loads', token: await provider.sign({ sub: 'ada' }) })).status, 403)
  t.ok(await works(one))
})

t.test('whoever has not signed in for 30 days is gone, until the next sign-in', async (t) => {
  const { both, server, provider, make, works, seenBefore, db } = await withPeople(t)
  const { session } = await signIn(both, 'ada')
  const one = await make(session, 'one')
  const record = async (): Promise<TokenRecord> => {
    const found = (await listTokens(db)).tokens.find(({ name }) => name === 'one')
    if (!found) throw new Error('no token')
    return found
  }
  const actor = {
    urn: one.metadata.actorUrn as never,
    tokenId: one.metadata.id,
    scopes: [],
    domainUrns: null
  }
  await seenBefore(29.9, 'ada')
  t.ok(await works(one))
  t.strictSame((await record()).makerState, { hasRole: true, absentDays: 29 })
  await refuseRevoked(db, actor, strictMakerRule)
  await seenBefore(30.1, 'ada')
  t.notOk(await works(one))
  await t.rejects(refuseRevoked(db, actor, strictMakerRule), { code: 'UNAUTHENTICATED' }, 'in a long upload')
  t.equal((await record()).revokedAt, null)
  await signIn(both, 'ada')
  t.ok(await works(one), 'a sign-in counts')
  await seenBefore(31, 'ada')
  await server.rest({
    url: '/loads',
    token: await provider.sign({ sub: 'ada', preferred_username: 'ada', groups: ['platform'] })
  })
  t.ok(await works(one), 'and so does a JSON Web Token with a role')
})

t.test('what a revoked person made does not count until the person signs in again', async (t) => {
  const { both, make, works, db } = await withPeople(t)
  const { session } = await signIn(both, 'ada')
  const one = await make(session, 'one')
  const person = (await listTokens(db)).tokens.find(({ name }) => name === 'ada (signed in)')
  await revokeToken(db, person?.id ?? '')
  t.notOk(await works(one))
  await sleep(1_100)
  await signIn(both, 'ada')
  t.ok(await works(one))
})

t.test('OIDC_ABSENT_DAYS=0 keeps the tokens, and the list and the log name them', async (t) => {
  const { both, groups, make, works, db } = await withPeople(t, { OIDC_ABSENT_DAYS: '0' })
  const { session } = await signIn(both, 'ada')
  const one = await make(session, 'one')
  t.equal(one.note, null)
  groups.ada = ['strangers']
  await signIn(both, 'ada')
  t.ok(await works(one))
  const [token] = (await listTokens(db)).tokens.filter(({ name }) => name === 'one')
  t.strictSame(token?.makerState, { hasRole: false, absentDays: 0 })
  const { out } = await runCommand(['token', 'list'], {
    env: { DATABASE_URL: both.server.context.config.databaseUrl ?? '' }
  })
  t.match(
    out.find((line) => line.includes('\tone\t')),
    /ada \(no role\)/
  )
})

t.test('the log names a token whose maker is gone once an hour', (t) => {
  const lines: string[] = []
  const config = readConfig({ OIDC_ABSENT_DAYS: '0', LOG_LEVEL: 'info' })
  const log = createLog(config, {
    write(line: string) {
      lines.push(line)
    }
  })
  let nowMs = 0
  const rule = openMakerRule(config, log, () => nowMs)
  const token = { id: 'a', name: 'etl', makerUrn: 'urn:li:corpuser:ada' } as TokenRecord
  rule.onMakerGone(token, true)
  rule.onMakerGone({ ...token, id: 'b', name: 'other' }, false)
  nowMs = 3_599_999
  rule.onMakerGone(token, true)
  t.equal(lines.length, 2)
  nowMs = 3_600_000
  rule.onMakerGone(token, true)
  t.strictSame(
    lines.map((line) => JSON.parse(line)).map(({ level, tokenId, maker }) => ({ level, tokenId, maker })),
    ['a', 'b', 'a'].map((tokenId) => ({ level: 'warn', tokenId, maker: 'urn:li:corpuser:ada' }))
  )
  t.match(lines[0], /OIDC_ABSENT_DAYS=0 keeps/)
  t.match(lines[1], /has ended/)
  t.end()
})
