/**
 * `npm run bench -- loading-references [ROWS] [KIND…]`: loads whose rows have names, compared with loads of the
 * same kind whose rows have URNs, while another client reads one dataset after the other. Both take turns in
 * one catalog, and each has edges of its own, so that both do the same work.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { runAlone } from '../../shared/db/run-alone.ts'
import type { Api } from '../../test/torture/catalog-calls.ts'
import { quantile, rounded, tableOf, type Finding } from '../lineage-http/findings.ts'
import { assetCount, assetLines, assetUrn, drawEdges } from './edges.ts'
import { openStage, sendFile, type Stage, writeLines } from './stage.ts'

const restMs = 5

/** The text of an asset in a row: its URN, its whole name, or the end of its name. */
type Spelling = (asset: number) => string

const inUrn = (urn: string): string => urn.slice(urn.indexOf(',') + 1, urn.lastIndexOf(','))
const urn: Spelling = (asset) => `"${assetUrn(asset)}"`
const whole: Spelling = (asset) => `snowflake:${inUrn(assetUrn(asset))}`
const end: Spelling = (asset) => inUrn(assetUrn(asset)).split('.').at(-1) ?? ''
const renamed =
  (spelling: Spelling, word: string): Spelling =>
  (asset) =>
    spelling(asset).replace('warehouse_', `${word}_`)

type Kind = {
  name: string
  /** Records that are loaded before, for a kind with assets of its own. */
  assets?: (count: number) => Iterable<string>
  format?: 'ndjson'
  creates?: boolean
  isRefused?: boolean
  urns: (rows: Rows) => Iterable<string>
  names: (rows: Rows) => Iterable<string>
}

/** `turn` differs for each load, so that its edges or assets are new. */
type Rows = { count: number; turn: number }

function* edges({ count, turn }: Rows, spelling: Spelling): Generator<string> {
  const { upstream, downstream } = drawEdges(count, 100 + turn)
  yield 'upstream,downstream\n'
  for (let index = 0; index < count; index += 1)
    yield `${spelling(upstream[index] ?? 0)},${spelling(downstream[index] ?? 0)}\n`
}

/** As in a spreadsheet: each asset is in many rows. */
const fewDifferent: (spelling: Spelling) => Spelling = (spelling) => (asset) =>
  spelling(asset % spreadsheetAssets)

/** As many different names as rows, each in two rows. */
function* manyDifferent({ count, turn }: Rows, spelling: Spelling): Generator<string> {
  yield 'upstream,downstream\n'
  for (let index = 0; index < count; index += 1)
    yield `${spelling(index)},${spelling((index + turn) % count)}\n`
}

const shortUrn = (asset: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,shop.table_${asset},PROD)`

function* shortAssets(count: number): Generator<string> {
  for (let asset = 0; asset < count; asset += 1)
    yield `${JSON.stringify({ op: 'upsertEntity', urn: shortUrn(asset) })}\n`
}

const created = (rows: Rows, spelling: Spelling) => edges(rows, renamed(spelling, `new${rows.turn}`))

/** Two names of their own in each row. */
function* different({ count, turn }: Rows, spelling: Spelling): Generator<string> {
  yield 'upstream,downstream\n'
  for (let index = 0; index < count; index += 1)
    yield `${renamed(spelling, `u${turn}`)(index)},${renamed(spelling, `d${turn}`)(index)}\n`
}

function* repeated({ count, turn }: Rows, spelling: Spelling): Generator<string> {
  yield 'upstream,downstream\n'
  for (let index = 0; index < count; index += 1) yield `${spelling(turn)},${spelling(turn + 1)}\n`
}

function* columns({ count, turn }: Rows, spelling: Spelling): Generator<string> {
  const { upstream, downstream } = drawEdges(count, 100 + turn)
  yield 'upstream,upstream_column,downstream,downstream_column\n'
  for (let index = 0; index < count; index += 1)
    yield `${spelling(upstream[index] ?? 0)},c${index % 7},${spelling(downstream[index] ?? 0)},c${index % 10}\n`
}

function* ofDomains(
  { count, turn }: Rows,
  spelling: Spelling,
  domain: (number: number) => string
): Generator<string> {
  yield 'resource,domain\n'
  for (let index = 0; index < count; index += 1)
    yield `${spelling(index % assetCount)},${domain((index + turn) % domainCount)}\n`
}

function* jsonEdges({ count, turn }: Rows, spelling: Spelling): Generator<string> {
  const { upstream, downstream } = drawEdges(count, 100 + turn)
  const text = (asset: number): string => spelling(asset).replaceAll('"', '')
  for (let index = 0; index < count; index += 1)
    yield `${JSON.stringify({ upstreamUrn: text(upstream[index] ?? 0), downstreamUrn: text(downstream[index] ?? 0) })}\n`
}

const domainCount = 50
const spreadsheetAssets = 10_000
const unknown: Spelling = (asset) => `snowflake:nothing_${asset}`

const kinds: readonly Kind[] = [
  {
    name: 'new assets',
    creates: true,
    urns: (rows) => created(rows, urn),
    names: (rows) => created(rows, whole)
  },
  {
    name: 'a spreadsheet',
    urns: (rows) => edges(rows, fewDifferent(urn)),
    names: (rows) => edges(rows, fewDifferent(whole))
  },
  {
    name: 'as many names as rows',
    assets: shortAssets,
    urns: (rows) => manyDifferent(rows, (asset) => `"${shortUrn(asset)}"`),
    names: (rows) => manyDifferent(rows, (asset) => `hive:shop.table_${asset}`)
  },
  { name: 'whole names', urns: (rows) => edges(rows, urn), names: (rows) => edges(rows, whole) },
  { name: 'ends of names', urns: (rows) => edges(rows, urn), names: (rows) => edges(rows, end) },
  {
    name: 'two different new names a row',
    creates: true,
    urns: (rows) => different(rows, urn),
    names: (rows) => different(rows, whole)
  },
  { name: 'the same two names', urns: (rows) => repeated(rows, urn), names: (rows) => repeated(rows, end) },
  { name: 'columns', urns: (rows) => columns(rows, urn), names: (rows) => columns(rows, whole) },
  {
    name: 'domains',
    urns: (rows) => ofDomains(rows, urn, (number) => `urn:li:domain:d${number}`),
    names: (rows) => ofDomains(rows, whole, (number) => `Domain ${number}`)
  },
  {
    name: 'NDJSON',
    format: 'ndjson',
    urns: (rows) => jsonEdges(rows, urn),
    names: (rows) => jsonEdges(rows, whole)
  },
  {
    name: 'names of nothing',
    isRefused: true,
    urns: (rows) => edges(rows, urn),
    names: (rows) => edges(rows, unknown)
  },
  {
    name: 'names without a platform',
    isRefused: true,
    creates: true,
    urns: (rows) => edges(rows, urn),
    names: (rows) => edges(rows, end)
  }
]

export async function benchLoadingReferences([rows = '250000', ...only]: readonly string[]): Promise<object> {
  const count = Number(rows)
  const stage = await openStage()
  try {
    await sendFile(stage, await writeLines(stage, 'assets.ndjson', assetLines()), { source: 'bench' })
    await sendFile(stage, await writeLines(stage, 'domains.ndjson', domainLines()), { source: 'bench' })
    await runAlone(stage.db, ['vacuum (analyze)'])
    const idle = await readDuring(stage.api, () => sleep(5_000))
    const findings: Finding[] = []
    let turn = 0
    for (const kind of kinds.filter(
      ({ name }) => only.length === 0 || only.some((each) => name.includes(each))
    )) {
      if (kind.assets) {
        const file = await writeLines(stage, 'more.ndjson', kind.assets(count))
        await sendFile(stage, file, { source: 'bench' })
        await runAlone(stage.db, ['vacuum (analyze)'])
      }
      const urns = await timed(stage, kind, kind.urns({ count, turn: (turn += 1) }), false)
      const names = await timed(
        stage,
        kind,
        kind.names({ count, turn: (turn += 1) }),
        kind.isRefused ?? false
      )
      const context = { urns, names, idleP99: rounded(quantile(idle, 0.99)) }
      findings.push(
        {
          row: 4,
          name: `${kind.name}: time of names by time of URNs`,
          value: names.doneS / urns.doneS,
          unit: 'x',
          goal: { atMost: 3 },
          context
        },
        {
          row: 4,
          name: `${kind.name}: reads of another client, 99th percentile`,
          value: names.p99Ms,
          unit: 'ms',
          goal: { atMost: 100 },
          context: {}
        }
      )
    }
    for (const line of tableOf(findings)) console.log(line)
    return { at: new Date().toISOString(), rows: count, assets: assetCount, queue: stage.queue, findings }
  } finally {
    await stage.stop()
  }
}

function* domainLines(): Generator<string> {
  for (let number = 0; number < domainCount; number += 1)
    yield `${JSON.stringify({ op: 'createDomain', id: `d${number}`, name: `Domain ${number}` })}\n`
}

/** Steadier than times on a machine that does other work too. */
type CpuSeconds = { api: number; worker: number; postgres: number }

async function timed(
  stage: Stage,
  { format, creates }: Kind,
  lines: Iterable<string>,
  isRefused: boolean
): Promise<{ acceptedS: number; doneS: number; p99Ms: number; mostMs: number; cpuS: CpuSeconds }> {
  const file = await writeLines(stage, 'rows', lines)
  const before = stage.cpu()
  let times = { acceptedS: 0, doneS: 0 }
  const reads = await readDuring(stage.api, async () => {
    const { acceptedS, doneS } = await sendFile(
      stage,
      file,
      {
        format: format ?? 'csv',
        source: 'bench',
        missingReferences: creates ? 'create' : 'reject'
      },
      { isRefused }
    )
    times = { acceptedS: rounded(acceptedS), doneS: rounded(doneS) }
  })
  const after = stage.cpu()
  const cpuS = {
    api: rounded(after.api - before.api),
    worker: rounded(after.worker - before.worker),
    postgres: rounded(after.postgres - before.postgres)
  }
  return { ...times, p99Ms: rounded(quantile(reads, 0.99)), mostMs: rounded(quantile(reads, 1)), cpuS }
}

/** The times, in ms, of reads that one client makes one after the other until the work has ended. */
async function readDuring(api: Api, work: () => Promise<unknown>): Promise<number[]> {
  const over = new AbortController()
  const times: number[] = []
  const reading = (async () => {
    for (let asset = 0; !over.signal.aborted; asset = (asset + 7_919) % assetCount) {
      const begun = performance.now()
      const answer = await fetch(`${api.url}/api/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: `{ dataset(urn: ${JSON.stringify(assetUrn(asset))}) { urn exists } }` })
      })
      const text = await answer.text()
      if (!text.includes('"exists":true')) throw new Error(`${answer.status} ${text.slice(0, 300)}`)
      times.push(performance.now() - begun)
      await sleep(restMs)
    }
  })()
  try {
    await work()
  } finally {
    over.abort()
    await reading
  }
  return times
}
