/**
 * `npm run bench -- loading-interactive [RECORDS]`: the latency of small requests while a load of 1,000,000
 * edges arrives and is applied, compared with the idle catalog in the same run. 20 connections, each with
 * one call after another and a short pause between: reads of one hop, and updateLineage. Every answer must
 * be right: a read must return the upstream that the bench has given its asset.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Api } from '../../test/torture/catalog-calls.ts'
import { quantile, rounded, tableOf, type Finding } from '../lineage-http/findings.ts'
import { assetCount, assetLines, assetUrn, drawEdges, edgeLines } from './edges.ts'
import { openStage, sendFile, writeLines } from './stage.ts'

const connections = 20
const restMs = 50
const warmUpMs = 3_000
const idleMs = 15_000
const leastGoalMs = 50
/** Assets that the load does not change, so that the right answer of a read is known. */
const readAssets = 1_000

const readUrn = (number: number): string => `urn:li:dataset:(urn:li:dataPlatform:looker,read_${number},PROD)`
const feedUrn = (number: number): string => `urn:li:dataset:(urn:li:dataPlatform:looker,feeds_${number},PROD)`

const oneHop =
  'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { searchResults { degree entity { urn } } } }'
const updateLineage = 'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }'

type Kind = 'read of one hop' | 'updateLineage'
type Felt = Record<Kind, number[]> & { errors: string[]; ownDelayMs: number; ownMostMs: number }

export async function benchLoadingInteractive(args: readonly string[]): Promise<object> {
  const count = Number(args[0] ?? 1_000_000)
  const stage = await openStage()
  const { api } = stage
  try {
    for (const [name, lines] of [
      ['assets.ndjson', assetLines()],
      ['reads.ndjson', readLines()]
    ] as const)
      await sendFile(stage, await writeLines(stage, name, lines), { source: 'bench' })
    const edges = await writeLines(stage, 'edges.ndjson', edgeLines(drawEdges(count, 3)))
    await feel(api, async () => {
      await sleep(warmUpMs)
    })
    const idle = await feel(api, async () => {
      await sleep(idleMs)
    })
    let loadSeconds = { acceptedS: 0, doneS: 0 }
    const busy = await feel(api, async () => {
      loadSeconds = await sendFile(stage, edges, { source: 'bench' })
    })
    const findings = (['read of one hop', 'updateLineage'] as const).map((kind): Finding => {
      const idleP99 = quantile(idle[kind], 0.99)
      return {
        row: 4,
        name: `${kind} while a load is received and applied, 99th percentile`,
        value: quantile(busy[kind], 0.99),
        unit: 'ms',
        goal: { atMost: Math.max(leastGoalMs, 10 * idleP99) },
        context: { idle: summary(idle[kind]), busy: summary(busy[kind]) }
      }
    })
    const errors = [...idle.errors, ...busy.errors]
    for (const line of tableOf(findings)) console.log(line)
    console.log(
      `${errors.length} errors${errors.length > 0 ? `, for example ${errors[0]}` : ''}; the load was accepted after ${rounded(loadSeconds.acceptedS)} s and done after ${rounded(loadSeconds.doneS)} s; the bench itself stood still for at most ${rounded(busy.ownDelayMs)} ms in 99 of 100, and ${rounded(busy.ownMostMs)} ms`
    )
    return {
      at: new Date().toISOString(),
      queue: stage.queue,
      connections,
      errors: errors.length,
      loadSeconds,
      ownDelayMs: { idle: rounded(idle.ownDelayMs), busy: rounded(busy.ownDelayMs) },
      findings
    }
  } finally {
    await stage.stop()
  }
}

const summary = (times: readonly number[]) => ({
  calls: times.length,
  p50: rounded(quantile(times, 0.5)),
  p99: rounded(quantile(times, 0.99)),
  most: rounded(quantile(times, 1))
})

function* readLines(): Generator<string> {
  for (let number = 0; number < readAssets; number += 1) {
    for (const urn of [readUrn(number), feedUrn(number)])
      yield `${JSON.stringify({ op: 'upsertEntity', urn })}\n`
    yield `${JSON.stringify({ upstreamUrn: feedUrn(number), downstreamUrn: readUrn(number) })}\n`
  }
}

/** Calls on all connections until `work` has ended; every fifth changes lineage. */
async function feel(api: Api, work: () => Promise<unknown>): Promise<Felt> {
  const felt: Felt = { 'read of one hop': [], updateLineage: [], errors: [], ownDelayMs: 0, ownMostMs: 0 }
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const over = new AbortController()
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const callers = Array.from({ length: connections }, async (_, connection) => {
    for (let call = connection; !over.signal.aborted; call += connections) {
      const kind: Kind = Math.floor(call / connections) % 5 === 0 ? 'updateLineage' : 'read of one hop'
      const number = (call * 7_919) % readAssets
      const body =
        kind === 'updateLineage'
          ? {
              query: updateLineage,
              variables: {
                input: {
                  edgesToAdd: [
                    { upstreamUrn: assetUrn((call * 104_729) % assetCount), downstreamUrn: feedUrn(number) }
                  ]
                }
              }
            }
          : {
              query: oneHop,
              variables: {
                input: {
                  urn: readUrn(number),
                  direction: 'UPSTREAM',
                  query: '*',
                  count: 10,
                  orFilters: [{ and: [{ field: 'degree', values: ['1'] }] }]
                }
              }
            }
      const begun = performance.now()
      const { status, text } = await post(api, agent, JSON.stringify(body)).catch((error: unknown) => ({
        status: 0,
        text: String(error)
      }))
      felt[kind].push(performance.now() - begun)
      const isRight =
        kind === 'updateLineage'
          ? text.startsWith('{"data":{"updateLineage":true}')
          : text.includes(feedUrn(number))
      if (status !== 200 || !isRight || text.includes('"errors"'))
        felt.errors.push(`${status} ${text.slice(0, 300)}`)
      await sleep(restMs * (0.5 + Math.random()))
    }
  })
  try {
    await work()
  } finally {
    over.abort()
    await Promise.all(callers)
    delay.disable()
    agent.destroy()
  }
  return { ...felt, ownDelayMs: delay.percentile(99) / 1e6, ownMostMs: delay.max / 1e6 }
}

function post(api: Api, agent: Agent, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${api.url}/api/graphql`,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${api.token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body)
        }
      },
      (answer) => {
        let text = ''
        answer
          .setEncoding('utf8')
          .on('data', (piece: string) => {
            text += piece
          })
          .on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
          .on('error', reject)
      }
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
