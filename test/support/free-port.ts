/** Ports for servers that are started later, and again after they were killed. */
import { createServer } from 'node:net'

/**
 * Below those that the system gives to outgoing connections and to servers that ask for any port, which might have
 * such a port by the time it is listened on.
 */
const firstPort = 20_000
const portCount = 10_000
/**
 * Each process begins at a place of its own, far from those of processes that began just before or after it, so that two
 * do not choose the same port before either listens on it. By the golden ratio, the nearest of a hundred is 45 away.
 */
const placesBetween = 6_181

let chosen = 0

/** A port that nothing listens on now, and that this process was not given before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + ((process.pid * placesBetween + chosen) % portCount)
    chosen += 1
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => {
      server.close(() => resolve(true))
    })
  })
}
