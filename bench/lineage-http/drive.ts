/** Sends as many requests as a server can answer, over many connections, and counts them. */
import autocannon from 'autocannon'

export type Driven = {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  cpuMicrosPerRequest: number
  replyBytes: number
}

export type Target = { url: string; token?: string; cpuSeconds: () => number }

const requestsPerConnection = 400

/** Every connection repeats its own selection of the bodies. Throws if any answer is an error. */
export async function drive(
  target: Target,
  bodies: readonly string[],
  { connections, until }: { connections: number; until: { seconds: number } | { requests: number } }
): Promise<Driven> {
  let errors = 0
  let connectionIndex = 0
  const cpuBefore = target.cpuSeconds()
  const result = await autocannon({
    url: `${target.url}/api/graphql`,
    method: 'POST',
    connections,
    ...('requests' in until ? { amount: until.requests } : { duration: until.seconds }),
    headers: {
      'content-type': 'application/json',
      ...(target.token === undefined ? {} : { authorization: `Bearer ${target.token}` })
    },
    setupClient(client) {
      const begin = connectionIndex * requestsPerConnection
      connectionIndex += 1
      client.setRequests(
        Array.from({ length: requestsPerConnection }, (_, index) => ({
          body: bodies[(begin + index) % bodies.length]
        }))
      )
      client.on('body', (body) => {
        if (body.includes('"errors"')) errors += 1
      })
    }
  })
  const answered = result['2xx']
  if (errors + result.errors + result.non2xx > 0)
    throw new Error(
      `${target.url}: ${errors} GraphQL errors, ${result.errors} broken connections, ${result.non2xx} refusals`
    )
  return {
    requestsPerSecond: answered / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuMicrosPerRequest: ((target.cpuSeconds() - cpuBefore) / answered) * 1e6,
    replyBytes: result.throughput.total / answered
  }
}
