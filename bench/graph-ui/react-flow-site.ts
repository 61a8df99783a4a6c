/**
 * Builds the page that draws the view with React Flow, and serves it together with an API, to whose requests
 * it adds the token.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { packagePath } from '../../shared/platform/paths.ts'

const types: { readonly [extension: string]: string } = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css'
}

/** Throws if the page cannot be built. */
export async function serveReactFlow({
  folder,
  api,
  token
}: {
  folder: string
  api: string
  token: string
}): Promise<{ url: string; stop: () => Promise<void> }> {
  const outDir = join(folder, 'react-flow')
  const bundler = packagePath('node_modules/vite/bin/vite.js')
  const { status, stderr } = spawnSync(
    process.execPath,
    [bundler, 'build', packagePath('web/bench'), '--base', './', '--outDir', outDir, '--target', 'es2022'],
    { encoding: 'utf8' }
  )
  if (status !== 0) throw new Error(`the page of React Flow does not build: ${stderr}`)
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === '/api/graphql') {
      void (async () => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(Buffer.from(chunk))
        const answer = await fetch(`${api}/api/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: Buffer.concat(chunks)
        })
        response.writeHead(answer.status, { 'content-type': 'application/json' })
        response.end(Buffer.from(await answer.arrayBuffer()))
      })()
      return
    }
    const name = pathname === '/' ? 'index.html' : pathname.slice(1)
    try {
      const body = readFileSync(join(outDir, name))
      response.writeHead(200, {
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        'cache-control': name === 'index.html' ? 'no-cache' : 'max-age=31536000, immutable'
      })
      response.end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      })
  }
}
