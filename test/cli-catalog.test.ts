/**
 * `tributary search`, `resolve`, `export` and `domain`: what they print, send and change, on a real server.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { addEdge, apply, column, create, dataset } from './support/changes.ts'
import { freePort } from './support/free-port.ts'
import { runCommand, type Outcome } from './support/run-command.ts'
import { withServer } from './support/server.ts'
import { withAnswer, withStandIn } from './support/stand-in-server.ts'

const [a, b, c] = [dataset('shop.orders'), dataset('shop.order_items'), dataset('hr.people')]

type Run = (...args: string[]) => Promise<Outcome>

async function withCatalog(t: Test): Promise<Run> {
  const { url, token, db } = await withServer(t)
  for (const urn of [a, b, c]) await apply(db, ...create(urn))
  await apply(db, addEdge(a, b), addEdge(b, c), addEdge(column(a, 'id'), column(b, 'order_id')))
  return (...args) => runCommand(args, { env: { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token } })
}

const quiet = { err: [], drawn: [], questions: [] }
/** The rows of a CSV, whose lines end with CRLF. */
const rows = ({ out }: Outcome): string[] => out.map((line) => line.replace(/\r$/, ''))
const urnOf = ({ out }: Outcome): string => out[0] ?? ''

t.test('a catalog on the command line', async (t) => {
  const run = await withCatalog(t)

  t.test('domain rules are set from a file, listed, tried and applied', async (t) => {
    await run('domain', 'create', 'People', '--id', 'people')
    const folder = t.testdir({
      'rules.json': JSON.stringify([{ name: 'hr.*', domain: 'People' }]),
      'wrong.json': JSON.stringify([{ name: 'hr.*', domain: 'Nobody' }]),
      'none.json': '{}'
    })
    const file = (name: string): string => join(folder, name)
    t.match(await run('domain', 'rules', 'list'), {
      code: 0,
      out: { length: 0 },
      err: ['There are no domain rules.']
    })
    t.match(await run('domain', 'rules', 'preview', file('rules.json')), {
      code: 0,
      out: [`hr.people\thive\tPeople\t1\t${c}`],
      err: ['1 asset would be put into a domain.']
    })
    t.match(await run('domain', 'rules', 'set', file('rules.json')), {
      code: 0,
      out: ['1 domain rule is in force.']
    })
    t.match(await run('domain', 'rules', 'list'), { code: 0, out: ['1\t\t\thr.*\tPeople'] })
    const listed = await run('domain', 'rules', 'list', '--json')
    t.strictSame(JSON.parse(listed.out.join('')), [{ name: 'hr.*', domainUrn: 'urn:li:domain:people' }])
    t.match(await run('domain', 'rules', 'apply', '--no-wait'), { code: 0 })
    t.match(await run('domain', 'rules', 'set', file('wrong.json')), { code: 1, err: [/Nobody/] })
    t.match(await run('domain', 'rules', 'set', file('none.json')), { code: 1, err: [/JSON list/] })
    t.match(await run('domain', 'rules', 'set', file('absent.json')), { code: 1, err: [/absent.json/] })
    t.match(await run('domain', 'rules', 'preview'), {
      code: 0,
      out: [`hr.people\thive\tPeople\t1\t${c}`]
    })
    await run('domain', 'delete', 'People')
    t.match(await run('domain', 'rules', 'list'), { code: 0, out: [/skipped/] })
  })

  t.test('domains are created, shown as a tree, moved and deleted, by name, path or URN', async (t) => {
    const sales = urnOf(
      await run('domain', 'create', 'Sales', '--id', 'sales', '--description', 'What is sold')
    )
    t.equal(sales, 'urn:li:domain:sales')
    const orders = await run('domain', 'create', 'Orders', '--id', 'orders', '--in', 'Sales', '--json')
    t.strictSame(orders, { ...quiet, code: 0, out: ['{"urn":"urn:li:domain:orders"}'] })
    t.match(await run('domain', 'create', 'Returns', '--id', 'returns', '--in', 'Sales/Orders'), {
      code: 0,
      out: ['urn:li:domain:returns']
    })
    t.match(await run('domain', 'create', 'Finance', '--id', 'finance'), { code: 0 })
    t.match(
      await run('domain', 'create', 'Orders', '--id', 'other-orders', '--in', 'urn:li:domain:finance'),
      { code: 0 }
    )
    t.strictSame(await run('domain', 'tree'), {
      ...quiet,
      code: 0,
      out: [
        'Finance\t0\turn:li:domain:finance',
        '  Orders\t0\turn:li:domain:other-orders',
        'Sales\t0\turn:li:domain:sales',
        '  Orders\t0\turn:li:domain:orders',
        '    Returns\t0\turn:li:domain:returns'
      ]
    })
    t.strictSame(
      (await run('domain', 'tree', 'Sales', '--json')).out.map((line) => JSON.parse(line)),
      [
        {
          urn: 'urn:li:domain:sales',
          name: 'Sales',
          description: 'What is sold',
          parent: null,
          assetCount: 0,
          depth: 0
        },
        {
          urn: 'urn:li:domain:orders',
          name: 'Orders',
          description: null,
          parent: 'urn:li:domain:sales',
          assetCount: 0,
          depth: 1
        },
        {
          urn: 'urn:li:domain:returns',
          name: 'Returns',
          description: null,
          parent: 'urn:li:domain:orders',
          assetCount: 0,
          depth: 2
        }
      ]
    )
    t.match(await run('domain', 'move', 'Returns', '--to', 'Finance/Orders'), {
      code: 0,
      out: ['The domain is now Finance/Orders/Returns.']
    })
    t.strictSame((await run('domain', 'move', 'Finance/Orders/Returns', '--top', '--json')).out, [
      '{"urn":"urn:li:domain:returns","parent":null}'
    ])
    t.match(await run('domain', 'delete', 'Returns'), { code: 0, out: ['Returns is deleted.'] })
    t.match(await run('domain', 'tree', 'Returns'), { code: 1, err: [/NOT_FOUND: Nothing is called/] })
  })

  t.test('an impossible change of a domain is refused with 1, and changes nothing', async (t) => {
    const before = (await run('domain', 'tree')).out
    t.match(await run('domain', 'create', 'Sales'), {
      code: 1,
      out: { length: 0 },
      err: [/^The server refused: CONFLICT: /]
    })
    t.match(await run('domain', 'create', 'X', '--in', 'Nowhere'), {
      code: 1,
      err: [/NOT_FOUND: Nothing is called "domain:Nowhere"/]
    })
    t.match(await run('domain', 'move', 'Orders', '--top'), {
      code: 1,
      err: [/BAD_REQUEST: .*may mean 2 entities: urn:li:domain:/]
    })
    t.match(await run('domain', 'move', 'Sales'), { code: 1, err: [/needs either --to DOMAIN or --top/] })
    t.match(await run('domain', 'move', 'Sales', '--to', 'Sales/Orders'), {
      code: 1,
      err: [/^The server refused: CONFLICT: /]
    })
    t.match(await run('domain', 'delete', 'Sales'), { code: 1, err: [/^The server refused: CONFLICT: /] })
    t.strictSame((await run('domain', 'tree')).out, before)
  })

  t.test('assets are put into a domain and taken out of it, all or none', async (t) => {
    t.strictSame(await run('domain', 'assign', 'Sales/Orders', 'hive:shop.orders', b), {
      ...quiet,
      code: 0,
      out: [`${a} is now in Sales/Orders.`, `${b} is now in Sales/Orders.`]
    })
    t.match((await run('domain', 'tree', 'Sales')).out, [/^Sales\t0\t/, /^ {2}Orders\t2\t/])
    t.match(await run('domain', 'assign', 'Finance', 'people', 'nobody'), {
      code: 1,
      out: { length: 0 },
      err: [/NOT_FOUND: .*nobody/]
    })
    t.match(await run('domain', 'assign', 'Finance', dataset('mentioned')), {
      code: 1,
      out: { length: 0 },
      err: [/MISSING_REFERENCE: .*mentioned.* If only lineage mentions it, load {"op": "upsertEntity"/]
    })
    t.strictSame(rows(await run('export', 'domains')), [
      'resource,domain',
      `"${a}",urn:li:domain:orders`,
      `"${b}",urn:li:domain:orders`
    ])
    t.strictSame((await run('domain', 'unassign', 'order_items', '--json')).out, [
      JSON.stringify({ domain: null, assets: [b] })
    ])
    t.strictSame((await run('export', 'domains', '--json', '--domain', 'Sales')).out, [
      JSON.stringify({ op: 'setDomain', entityUrn: a, domainUrn: 'urn:li:domain:orders' })
    ])
    t.strictSame((await run('export', 'domains', '--domain', 'Finance')).out, ['resource,domain\r'])
  })

  t.test('search finds entities by words, and says what is not shown', async (t) => {
    t.strictSame(await run('search', 'shop', 'orders'), {
      ...quiet,
      code: 0,
      out: [`shop.orders\tDATASET\thive\tOrders\t${a}`]
    })
    t.strictSame(
      (await run('search', 'Orders', '--types', 'DOMAIN', '--limit', '1', '--json')).out.map((line) =>
        JSON.parse(line)
      ),
      [{ urn: 'urn:li:domain:orders', type: 'DOMAIN', name: 'Orders' }]
    )
    t.match(await run('search', 'shop', '--limit', '1'), {
      code: 0,
      out: [/^shop\.\w+\tDATASET\t/],
      err: ['1 of 2 are shown; --limit shows more.']
    })
    t.strictSame((await run('search', '*', '--domain', 'Sales', '--platform', 'hive', '--env', 'PROD')).out, [
      `shop.orders\tDATASET\thive\tOrders\t${a}`
    ])
    t.strictSame(await run('search', 'shop', '--platform', 'snowflake'), {
      ...quiet,
      code: 0,
      out: [],
      err: ['Nothing was found.']
    })
    t.match(await run('search', 'x', '--types', 'TABLE'), { code: 1, err: [/TABLE/] })
    t.match(await run('search', 'x', '--limit', '0'), { code: 1, err: [/--limit takes/] })
  })

  t.test('resolve prints the URN that is meant', async (t) => {
    for (const reference of ['hive:shop.orders', 'orders@PROD', 'shop.orders', a])
      t.strictSame((await run('resolve', reference)).out, [a], reference)
    for (const reference of ['Sales/Orders', 'domain:Sales/Orders', 'domain: Sales / Orders'])
      t.strictSame((await run('resolve', reference)).out, ['urn:li:domain:orders'], reference)
    t.strictSame((await run('resolve', 'domain:Sales', '--json')).out, [
      '{"urn":"urn:li:domain:sales","type":"DOMAIN","exists":true}'
    ])
    t.match(await run('resolve', 'domain:Orders'), {
      code: 1,
      out: { length: 0 },
      err: [/BAD_REQUEST: .*may mean 2/]
    })
    for (const reference of ['Nowhere/Orders', 'Orders/Sales', '/Orders', 'Sales//Orders'])
      t.match(await run('resolve', reference), { code: 1, err: [/NOT_FOUND/] }, reference)
  })

  t.test('lineage is exported in every format, with filters', async (t) => {
    const exported = async (...args: string[]): Promise<string[]> =>
      rows(await run('export', 'lineage', ...args))
    t.match(await exported('shop.orders'), [
      /^degree,urn,type/,
      new RegExp(`^1,"${b.replaceAll(/[()]/g, '.')}"`),
      /^2,.*hr\.people/
    ])
    t.strictSame(await exported('shop.orders', '--of', 'edges', '--hops', '1'), [
      'upstream,downstream,degree',
      `"${a}","${b}",1`
    ])
    t.strictSame(
      (await exported('people', '--direction', 'upstream', '--json', '--degree', '1')).map(
        (line) => JSON.parse(line).urn
      ),
      [b]
    )
    t.strictSame((await exported('shop.orders', '--domain', 'Sales/Orders')).length, 1)
    t.match((await exported('shop.orders', '--columns'))[1], /^1,.*order_id/)
    t.equal((await exported('shop.orders', '--format', 'mermaid'))[1], 'flowchart LR')
    t.equal((await exported('shop.orders', '--format', 'dot'))[1], 'digraph lineage {')
    t.match(await run('export', 'lineage', 'shop.orders', '--types', 'TABLE'), {
      code: 1,
      err: [/Allowed: .*DATASET/]
    })
    t.match(await run('export', 'lineage', 'nothing'), {
      code: 1,
      out: { length: 0 },
      err: [/INVALID_URN: urn must be a URN such as .*, or the name of an entity/]
    })
    t.match(await run('export', 'domains', '--domain', 'Orders'), {
      code: 1,
      out: { length: 0 },
      err: [/INVALID_URN: .*may mean 2 entities/]
    })
  })
})

t.test('ends with 4 after no answer, an answer of another server, or an incomplete one', async (t) => {
  const commands = [
    ['search', 'x'],
    ['resolve', 'x'],
    ['domain', 'tree'],
    ['domain', 'create', 'x'],
    ['export', 'domains'],
    ['export', 'lineage', a],
    ['load', 'list']
  ]
  const nobody = `http://127.0.0.1:${await freePort()}`
  const other = await withAnswer(t, 200, '<html>')
  for (const command of commands) {
    const run = (url: string): Promise<Outcome> => runCommand([...command, '--url', url, '--token', 'x'])
    t.match(
      await run(nobody),
      { code: 4, out: { length: 0 }, err: [/does not answer: .*ECONNREFUSED/] },
      command.join(' ')
    )
    t.match(
      await run(other),
      { code: 4, out: { length: 0 }, err: [/Is this a Tributary server/] },
      command.join(' ')
    )
  }
  const cut = await withStandIn(t, (_request, response) => {
    response.writeHead(200, { 'content-disposition': 'attachment' })
    response.write('resource,domain\n', () => {
      response.destroy()
    })
  })
  t.match(await runCommand(['export', 'domains', '--url', cut, '--token', 'x']), {
    code: 4,
    err: [/was cut off/]
  })
})
