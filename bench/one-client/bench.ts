/**
 * `npm run bench -- one-client CHECKOUT [WORD]`: what one client sends, with nobody else there, in
 * this version and in that of another built checkout, such as the one before clients took turns.
 *
 * Each version has its own Postgres, Redis, API and worker, and they take turns, so what else the machine does
 * meets both. The bodies are those of `npm run abuse`; WORD keeps those whose names contain it.
 */
import { join } from 'node:path'
import type { Attack } from '../../test/abuse/attack.ts'
import { catalogLoads } from '../../test/abuse/catalog.ts'
import { fire } from '../../test/abuse/fire.ts'
import { oneClient } from '../../test/abuse/one-client.ts'
import { loadLines } from '../../test/support/load-lines.ts'
import { median, rounded, tableOf, type Finding } from '../lineage-http/findings.ts'
import { openStage, type Stage } from '../loading/stage.ts'

const roundsCount = 4
const warmUpRounds = 1
/** Requests of a round, by the number that are sent at once. */
const requestsPerLane = { few: 2, many: 1 }
const manyMinCount = 20

/** Of one round. `done` requests were answered without an error, the others were refused. */
type Round = { ms: number; cpuSeconds: number; done: number; refused: number }
type Variant = 'now' | 'before'
type Stages = readonly (readonly [Variant, Stage])[]

export async function benchOneClient([checkout, word = '']: readonly string[]): Promise<object> {
  if (checkout === undefined) throw new Error('name the folder of the other checkout')
  const stages: [Variant, Stage][] = []
  try {
    stages.push(['now', await openStage()])
    stages.push(['before', await openStage({}, 1, join(checkout, 'dist/bin/tributary.js'))])
    for (const [, { api }] of stages) for (const load of catalogLoads()) await loadLines(api, load)
    const findings: Finding[] = []
    for (const work of oneClient.filter(({ name }) => name.includes(word))) {
      findings.push(findingOf(work, await takeTurns(stages, work)))
      for (const line of tableOf(findings.slice(-1))) console.log(line)
    }
    return { at: new Date().toISOString(), findings }
  } finally {
    for (const [, stage] of stages) await stage.stop()
  }
}

/** Who comes first changes with each round. The first rounds, in which code becomes fast, do not count. */
async function takeTurns(stages: Stages, work: Attack): Promise<Record<Variant, Round[]>> {
  const rounds: Record<Variant, Round[]> = { now: [], before: [] }
  const lanes = work.atOnce < manyMinCount ? requestsPerLane.few : requestsPerLane.many
  const count = work.atOnce * lanes
  for (let round = 0; round < warmUpRounds + roundsCount; round += 1) {
    const bodies = Array.from({ length: count }, (_, index) => work.body(round * count + index))
    for (const [variant, stage] of round % 2 === 0 ? stages : stages.toReversed()) {
      const measured = await oneRound(stage, work, bodies)
      if (round >= warmUpRounds) rounds[variant].push(measured)
    }
  }
  return rounds
}

async function oneRound(
  stage: Stage,
  work: Attack,
  bodies: readonly (string | Buffer | null)[]
): Promise<Round> {
  const cpuBefore = cpuOf(stage)
  const startedAt = performance.now()
  const waiting = [...bodies]
  let done = 0
  await Promise.all(
    Array.from({ length: work.atOnce }, async () => {
      for (let body = waiting.shift(); body !== undefined; body = waiting.shift()) {
        const { status, reasons } = await fire(stage.api, work, body)
        if (status === 200 && reasons.length === 0) done += 1
      }
    })
  )
  return {
    ms: performance.now() - startedAt,
    cpuSeconds: cpuOf(stage) - cpuBefore,
    done,
    refused: bodies.length - done
  }
}

function cpuOf(stage: Stage): number {
  const { api, worker, postgres } = stage.cpu()
  return api + worker + postgres
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** The median of rounds, which a pause of the machine does not move, by requests that were done. */
function findingOf({ name }: Attack, { now, before }: Record<Variant, Round[]>): Finding {
  const msOf = (rounds: readonly Round[]): number =>
    median(rounds.map(({ ms, done }) => ms / Math.max(1, done)))
  const cpuMsOf = (rounds: readonly Round[]): number =>
    (1_000 * sum(rounds.map(({ cpuSeconds }) => cpuSeconds))) /
    Math.max(1, sum(rounds.map(({ done }) => done)))
  return {
    row: 3,
    name: `${name}: now against before`,
    value: msOf(now) / msOf(before),
    unit: 'x',
    goal: { atMost: 1.1 },
    context: {
      processorTime: rounded(cpuMsOf(now) / cpuMsOf(before)),
      'ms a request, now': rounded(msOf(now)),
      'ms a request, before': rounded(msOf(before)),
      'processor ms a request, now': rounded(cpuMsOf(now)),
      'refused now': sum(now.map(({ refused }) => refused)),
      'refused before': sum(before.map(({ refused }) => refused)),
      rounds: now.length
    }
  }
}
