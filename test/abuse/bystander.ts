/**
 * Another client that sends a few reads on a fixed schedule and measures how long they take. Also measures
 * the memory of the largest process meanwhile.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { assetUrn, domainUrn } from './catalog.ts'

export type Service = { url: string; token: string }

export type Running = { pid: () => number | undefined }

export type Felt = { p99Ms: number; rssMb: number; failures: string[] }

const callEveryMs = 20
const sampleEveryMs = 50
const tickEveryMs = 5
/** Without a tick for so long, this process has stood still. */
const stoodMinMs = 50

const questions = [
  `{ domain(urn: ${JSON.stringify(domainUrn(3))}) { urn properties { name } } }`,
  `{ dataset(urn: ${JSON.stringify(assetUrn(7))}) { urn properties { name description } } }`,
  `{ searchAcrossLineage(input: { urn: ${JSON.stringify(assetUrn(49_000))}, direction: UPSTREAM, count: 10, orFilters: [{ and: [{ field: "degree", values: ["1", "2"] }] }] }) { total searchResults { degree entity { urn } } } }`
]
/** The time without that in which this process stood still, which would be measured as the server's. */
function createClock(): () => number {
  let seenAt = performance.now()
  let stoodMs = 0
  return () => {
    const now = performance.now()
    if (now - seenAt > stoodMinMs) stoodMs += now - seenAt
    seenAt = now
    return now - stoodMs
  }
}

/**
 * Each call is made at its scheduled time, even if earlier ones have not been answered, so that a blocked
 * server delays all of them.
 */
export function startBystander(
  { url, token }: Service,
  processes: readonly Running[]
): { end: () => Promise<Felt> } {
  const agent = new Agent({ keepAlive: true })
  const calls: Promise<number>[] = []
  const failures: string[] = []
  let rssMb = 0
  let next = 0
  const clock = createClock()
  const ticking = setInterval(clock, tickEveryMs)
  let due = clock()

  const call = async (query: string, dueAt: number): Promise<number> => {
    const fault = await ask(url, token, agent, query)
    if (fault !== null) failures.push(fault)
    return clock() - dueAt
  }
  const calling = setInterval(() => {
    for (; due <= clock(); due += callEveryMs)
      calls.push(call(questions[next++ % questions.length] ?? '', due))
  }, callEveryMs / 2)
  const sample = (): void => {
    rssMb = Math.max(rssMb, ...processes.map(({ pid }) => residentMb(pid())))
  }
  const sampling = setInterval(sample, sampleEveryMs)

  return {
    async end() {
      clearInterval(calling)
      const times = (await Promise.all(calls)).sort((a, b) => a - b)
      clearInterval(ticking)
      clearInterval(sampling)
      agent.destroy()
      sample()
      return { p99Ms: times[Math.ceil(times.length * 0.99) - 1] ?? 0, rssMb, failures }
    }
  }
}

/** The failure, or null. */
const ask = (url: string, token: string, agent: Agent, query: string): Promise<string | null> =>
  new Promise((resolve) => {
    const sent = JSON.stringify({ query })
    const outgoing = request(
      `${url}/api/graphql`,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(sent)
        }
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
        })
        answer.on('end', () => {
          resolve(
            answer.statusCode === 200 && !text.includes('"errors"')
              ? null
              : `${answer.statusCode} ${text.slice(0, 500)}`
          )
        })
        answer.on('error', (error) => {
          resolve(error.message)
        })
      }
    )
    outgoing.on('error', (error) => {
      resolve(error.message)
    })
    outgoing.end(sent)
  })

function residentMb(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
