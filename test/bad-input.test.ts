/**
 * Every row of test/cases/bad-input.json gets its expected answer, and a refused request changes nothing. The
 * answer is never 500.
 */
import t, { type Test } from 'tap'
import { createToken } from '../shared/catalog/access/create-token.ts'
import type { Db } from '../shared/db/database.ts'
import type { JsonValue } from '../shared/model/changes.ts'
import { newTokenText } from '../shared/model/token-text.ts'
import {
  expectationOf,
  readCases,
  requestOf,
  type Row,
  type Step,
  type TokenName
} from './support/bad-input-cases.ts'
import { catalogClient } from './support/catalog-client.ts'
import { expandValue } from './support/case-values.ts'
import { checkAnswer, faultOf, type Answer } from './support/check-answer.ts'
import { parsed, pick, valueAt } from './support/json-answer.ts'
import { loadLines } from './support/load-lines.ts'
import { sendRaw } from './support/raw-request.ts'
import { withRunningServer } from './support/running-server.ts'
import { changedTables, createTableChecksums } from './support/table-checksums.ts'

const cases = readCases()
/** Tables about loads, which are not metadata. */
const loadTables = ['load', 'chunk', 'reject', 'load_declaration', 'audit']

const makeTokens = async (db: Db, write: string): Promise<Record<TokenName, string | null>> => {
  const read = await createToken(db, { name: 'reader', scopes: ['read'] })
  const expired = await createToken(db, { name: 'expired', scopes: ['admin'] })
  const revoked = await createToken(db, { name: 'revoked', scopes: ['admin'] })
  await db.raw("update access_token set expires_at = now() - interval '1 hour' where id = ?", [
    expired.record.id
  ])
  await db.raw('update access_token set revoked_at = now() where id = ?', [revoked.record.id])
  const text = newTokenText()
  return {
    write,
    read: read.token,
    none: null,
    unknown: newTokenText(),
    badChecksum: text.slice(0, -1) + (text.endsWith('0') ? '1' : '0'),
    expired: expired.token,
    revoked: revoked.token
  }
}

t.test('bad input', async (t) => {
  const server = await withRunningServer(t)
  const { db, token, url } = server
  const tokens = await makeTokens(db, token)
  const named = (name: string): string | undefined =>
    name === 'token'
      ? token
      : name.startsWith('encoded:')
        ? encodeURIComponent(cases.names[name.slice(8)] ?? '')
        : cases.names[name]
  const lookUpWith =
    (captured: { [prefix: string]: JsonValue }) =>
    (name: string): string => {
      const [prefix = '', path = ''] = name.split(/:(.*)/s)
      const found = prefix in captured ? valueAt(captured[prefix], path) : named(name)
      if (found === undefined || found === null) throw new Error(`nothing is called ${name}`)
      const text = String(found)
      return text.includes('${')
        ? text.replaceAll(/\$\{(\w+)\}/g, (_, inner: string) => named(inner) ?? inner)
        : text
    }
  const send = async (step: Step, captured: { [prefix: string]: JsonValue } = {}): Promise<Answer> => {
    const lookUp = lookUpWith(captured)
    const answer = await sendRaw(url, requestOf(step, cases, tokens[step.token ?? 'write'], lookUp))
    return { ...answer, json: parsed(answer.text) }
  }

  await loadLines(
    server,
    cases.setup.flatMap((entry) => {
      const expanded = expandValue([entry], lookUpWith({}))
      return Array.isArray(expanded) ? expanded : []
    })
  )
  const messages = new Map<string, string>()
  const readSums = await createTableChecksums(db)
  let sums = await readSums()

  const runRow = async (row: Row): Promise<void> => {
    await t.test(`${row.id}: ${row.title}`, async (t) => {
      const captured: { [prefix: string]: JsonValue } = {}
      for (const step of [row.before ?? []].flat()) {
        const before = await send(step, captured)
        t.equal(faultOf(before.json), null, 'what goes before succeeds')
        captured.before = before.json
        sums = await readSums()
      }
      const answers = await Promise.all(
        Array.from({ length: row.concurrently ?? 1 }, () => send(row, captured))
      )
      for (const answer of answers) t.not(answer.status, 500, 'never 500')
      if (row.expect.tally) t.strictSame(tallyOf(answers), row.expect.tally)
      const [answer] = answers
      if (!answer) throw new Error('no answer')
      if (!row.expect.tally) {
        checkAnswer(t, answer, expectationOf(row, lookUpWith({ ...captured, answer: answer.json })), {
          isGraphql: row.graphql !== undefined,
          messages
        })
      }
      messages.set(row.id, faultOf(answer.json)?.message ?? '')
      await checkRejects(t, row, answer)
      if (row.expect.lastLoad) await checkLastLoad(t, row.expect.lastLoad)
      captured.answer = answer.json
      for (const step of row.then ?? []) {
        const later = await send(step, captured)
        checkAnswer(t, later, expectationOf(step, lookUpWith(captured)), {
          isGraphql: step.graphql !== undefined,
          messages
        })
      }
      const after = await readSums()
      const allowed = row.mayChange === 'load' ? loadTables : (row.mayChange ?? [])
      if (row.changesNothing !== false)
        t.strictSame(
          changedTables(sums, after).filter((name) => !allowed.includes(name)),
          [],
          'nothing changed'
        )
      sums = after
    })
  }

  const checkRejects = async (t: Test, row: Row, answer: Answer): Promise<void> => {
    if (!row.expect.rejects) return
    const listed = await sendRaw(url, {
      method: 'GET',
      path: `/loads/${String(valueAt(answer.json, 'id'))}/rejects`,
      headers: { authorization: `Bearer ${token}` }
    })
    const lines = listed.text
      .split('\n')
      .filter(Boolean)
      .map((line) => pick(parsed(line), { line: 0, code: '' }) ?? null)
    t.strictSame(lines, row.expect.rejects)
  }

  /** The newest load reaches the state within 5 seconds. */
  const checkLastLoad = async (t: Test, state: string): Promise<void> => {
    let found: JsonValue | undefined
    for (let tries = 0; tries < 50 && found !== state; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      const listed = await sendRaw(url, {
        method: 'GET',
        path: '/loads',
        headers: { authorization: `Bearer ${token}` }
      })
      found = valueAt(parsed(listed.text), 'loads.0.state')
    }
    t.equal(found, state)
  }

  for (const row of cases.rows) await runRow(row)
})

const tallyOf = (answers: Answer[]): { [outcome: string]: number } => {
  const tally: { [outcome: string]: number } = {}
  for (const answer of answers) {
    const outcome = faultOf(answer.json)?.code ?? 'ok'
    tally[outcome] = (tally[outcome] ?? 0) + 1
  }
  return tally
}

t.test('the case file', async (t) => {
  const ids = cases.rows.map((row) => row.id)
  t.equal(new Set(ids).size, ids.length, 'every row has an id of its own')
  const known = new Set([...ids, ...cases.notApplicable.map((row) => row.id)].map((id) => id.slice(0, 4)))
  const sections: [number, number][] = [
    [0, 24],
    [1, 11],
    [2, 5],
    [3, 10],
    [4, 15],
    [5, 15],
    [6, 16],
    [7, 12]
  ]
  const source = sections.flatMap(([section, last]) =>
    Array.from({ length: last }, (_, index) => `B${section}${String(index + 1).padStart(2, '0')}`)
  )
  t.strictSame(
    source.filter((id) => !known.has(id)),
    [],
    'every row of the source is here, or is named with the reason why not'
  )
  t.ok(cases.notApplicable.every((row) => row.why.length > 20))
})

t.test('races of the source table', async (t) => {
  const { url, token } = await withRunningServer(t)
  const catalog = catalogClient(url, token)

  await t.test('B607: two domains moved below each other at once never make a ring', async (t) => {
    const [a, b] = ['urn:li:domain:race-a', 'urn:li:domain:race-b']
    const place = (urn: string, name: string, parentDomain: string | null) =>
      catalog.propose(urn, 'domainProperties', { name, ...(parentDomain ? { parentDomain } : {}) })
    for (let round = 0; round < 20; round += 1) {
      await place(a, 'A', null)
      await place(b, 'B', null)
      const statuses = (await Promise.all([place(a, 'A', b), place(b, 'B', a)])).map(({ status }) => status)
      t.strictSame(
        statuses.toSorted((left, right) => left - right),
        [200, 409],
        `round ${round}`
      )
    }
    const { data } = await catalog.graphql(
      `{ a: domain(urn: "${a}") { parentDomains { count } } b: domain(urn: "${b}") { parentDomains { count } } }`
    )
    t.strictSame(
      [valueAt(data, 'a.parentDomains.count'), valueAt(data, 'b.parentDomains.count')]
        .map(Number)
        .toSorted((left, right) => left - right),
      [0, 1]
    )
  })

  await t.test("B613: writers that read, add and retry on 412 never lose each other's writes", async (t) => {
    const owner = 'urn:li:dataset:(urn:li:dataPlatform:hive,race.owner,PROD)'
    const upstreams = Array.from(
      { length: 10 },
      (_, index) => `urn:li:dataset:(urn:li:dataPlatform:hive,race.up${index},PROD)`
    )
    await catalog.make(owner, ...upstreams)
    const addOne = async (upstream: string): Promise<number> => {
      for (let tries = 1; tries <= 100; tries += 1) {
        const { json, headers, status } = await catalog.readAspect(owner, 'upstreamLineage')
        const known = valueAt(json, 'aspect.com\\.linkedin\\.dataset\\.UpstreamLineage.upstreams')
        const version = status === 404 ? '-1' : (headers.etag ?? '').replaceAll('"', '')
        const value = {
          upstreams: [...(Array.isArray(known) ? known : []), { dataset: upstream, type: 'COPY' }]
        }
        const written = await catalog.propose(owner, 'upstreamLineage', value, {
          headers: { 'If-Version-Match': version }
        })
        if (written.status === 200) return tries
        t.equal(written.status, 412)
      }
      throw new Error('never came to write')
    }
    const tries = await Promise.all(upstreams.map(addOne))
    t.strictSame(
      await catalog.walk(owner, 'UPSTREAM'),
      upstreams.map((urn) => `1 ${urn}`),
      `${tries.join(' ')} tries`
    )
  })
})
