/**
 * Row 3: small GraphQL reads over 50 connections, alternating with a bare Fastify route that sends the same
 * reply. While the API is measured, a writer changes the graph and reads its changes back, so the reads must
 * be fresh. While the bare route is measured, nobody writes, so it has the machine for itself.
 */
import { pick, randomFrom } from '../../test/torture/workload.ts'
import { startApi, type ApiProcess } from './api-process.ts'
import { asker, type Ask } from './ask.ts'
import { startBare, type BareProcess } from './bare-process.ts'
import { whileChurning } from './churn.ts'
import { checkDomains } from './domains.ts'
import { drive, type Driven } from './drive.ts'
import { median, rounded, type Finding } from './findings.ts'
import { domainQuery, hopsInput, hopsQuery, nothingQuery } from './questions.ts'
import { untilInMemory, type Catalog } from './stage.ts'

const connections = 50
const bodyCount = 20_000
const roundCount = 5
const roundSeconds = 8
/** Enough for the JIT compiler to compile what it will. */
const warmRequests = 15_000
const contextSeconds = 4
const writeEveryMs = 100
const goal = { atLeast: 0.5 }

type Reads = { query: string; variables: readonly object[] }

/** Questions of two hops, from random starts in random directions. */
export async function benchTwoHops(catalog: Catalog): Promise<Finding[]> {
  const random = randomFrom(31)
  const { graph } = catalog
  const variables = Array.from({ length: bodyCount }, () =>
    hopsInput(
      graph.urnOf(Math.floor(random() * graph.assetCount)),
      pick(random, ['UPSTREAM', 'DOWNSTREAM']),
      2
    )
  )
  const context = await compare(catalog, { query: hopsQuery, variables })
  return [
    {
      row: 3,
      name: '2-hop reads at 50 connections, share of bare fastify',
      value: context.ratio,
      unit: 'x',
      goal,
      context
    }
  ]
}

export async function benchDomainReads(catalog: Catalog): Promise<Finding[]> {
  const random = randomFrom(32)
  const { graph } = catalog
  const variables = Array.from({ length: bodyCount }, () => ({
    urn: graph.urnOf(Math.floor(random() * graph.assetCount))
  }))
  const context = await compare(catalog, { query: domainQuery, variables }, (ask) =>
    checkDomains(catalog, ask)
  )
  return [
    {
      row: 3,
      name: 'dataset { domain } at 50 connections, share of bare fastify',
      value: context.ratio,
      unit: 'x',
      goal,
      context
    }
  ]
}

async function compare(catalog: Catalog, reads: Reads, check: (ask: Ask) => Promise<void> = async () => {}) {
  const api = await startApi(catalog)
  const ask = asker(api)
  try {
    await untilInMemory(catalog, ask)
    await check(ask)
    const reply = await typicalReply(ask, reads)
    const [bare, graphql] = [
      await startBare('fastify', reply, catalog.folder),
      await startBare('graphql', reply, catalog.folder)
    ]
    try {
      return await inTurns(catalog, ask, reads, { api, bare, graphql })
    } finally {
      await bare.stop()
      await graphql.stop()
    }
  } finally {
    await api.stop()
  }
}

/** The reply of median length among some replies, which the bare route always sends. */
async function typicalReply(ask: Ask, { query, variables }: Reads): Promise<string> {
  const replies: string[] = []
  for (const each of variables.slice(0, 301)) replies.push((await ask(query, each)).text)
  return replies.toSorted((a, b) => a.length - b.length)[150] ?? '{}'
}

async function inTurns(
  catalog: Catalog,
  ask: Ask,
  { query, variables }: Reads,
  { api, bare, graphql }: { api: ApiProcess; bare: BareProcess; graphql: BareProcess }
) {
  const bodies = variables.map((each) => JSON.stringify({ query, variables: each }))
  const nothing = [JSON.stringify({ query: nothingQuery })]
  for (const target of [api, bare, graphql])
    await drive(target, bodies, { connections, until: { requests: warmRequests } })
  const rounds: { api: Driven; bare: Driven; graphql: Driven; writes: number }[] = []
  for (let round = 0; round < roundCount; round += 1) {
    const { result, churned } = await whileChurning(
      catalog,
      ask,
      { everyMs: writeEveryMs, seed: round },
      () => drive(api, bodies, { connections, until: { seconds: roundSeconds } })
    )
    const alone = await drive(bare, bodies, { connections, until: { seconds: roundSeconds } })
    rounds.push({
      api: result,
      bare: alone,
      graphql: await drive(graphql, bodies, { connections, until: { seconds: contextSeconds } }),
      writes: churned.writes
    })
  }
  await drive(api, nothing, { connections, until: { requests: warmRequests } })
  const typename = await drive(api, nothing, { connections, until: { seconds: contextSeconds } })
  const middle = (value: (round: (typeof rounds)[number]) => number): number =>
    rounded(median(rounds.map(value)))
  return {
    ratio: median(rounds.map((round) => round.api.requestsPerSecond / round.bare.requestsPerSecond)),
    ratios: rounds.map((round) => rounded(round.api.requestsPerSecond / round.bare.requestsPerSecond)),
    // The share of the bare route that GraphQL alone reaches when it does nothing: the upper bound of this
    // stack.
    ceiling: rounded(
      median(rounds.map((round) => round.graphql.requestsPerSecond / round.bare.requestsPerSecond))
    ),
    perSecond: {
      api: middle((round) => round.api.requestsPerSecond),
      bare: middle((round) => round.bare.requestsPerSecond),
      graphql: middle((round) => round.graphql.requestsPerSecond),
      typename: rounded(typename.requestsPerSecond)
    },
    cpuMicros: {
      api: middle((round) => round.api.cpuMicrosPerRequest),
      bare: middle((round) => round.bare.cpuMicrosPerRequest),
      graphql: middle((round) => round.graphql.cpuMicrosPerRequest),
      typename: rounded(typename.cpuMicrosPerRequest)
    },
    p99Ms: { api: middle((round) => round.api.p99Ms), bare: middle((round) => round.bare.p99Ms) },
    replyBytes: {
      api: middle((round) => round.api.replyBytes),
      bare: middle((round) => round.bare.replyBytes)
    },
    freshReadsChecked: rounds.reduce((sum, { writes }) => sum + writes, 0)
  }
}
