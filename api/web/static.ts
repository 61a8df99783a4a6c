/** Serves the web UI below /ui/ from dist/site, to everybody, because its pages contain no data. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CatalogError } from '../../shared/errors.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import type { ApiContext } from '../context.ts'
import { findPage, isMistypedPage } from './pages.ts'

/** All content comes from this server, no inline script runs, and no other site may frame a page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "manifest-src 'self'"
].join('; ')

const headers = { 'content-security-policy': policy, 'x-frame-options': 'DENY' }

const cacheControl = {
  hashed: 'public, max-age=31536000, immutable',
  /** Cached, but revalidated each time: the answer is mostly 304. */
  other: 'no-cache'
}

export async function webRoutes(
  app: FastifyInstance,
  { site = packagePath('dist/site') }: Pick<ApiContext, 'site'>
): Promise<void> {
  await app.register(fastifyStatic, {
    root: site,
    serve: false,
    preCompressed: true,
    cacheControl: false,
    // a range of a compressed file is useless
    acceptRanges: false,
    dotfiles: 'deny',
    suppressWarning: true
  })
  // A file is missing. The headers of the file are already set by now, so they are replaced.
  app.setNotFoundHandler((request, reply) => {
    reply.header('cache-control', 'no-store')
    throw notFound(request)
  })

  const open = { config: { access: 'open' } } as const
  app.get('/', open, (_request, reply) => reply.redirect('ui/'))
  app.get('/ui/', open, (request, reply) => answer(request, reply, site))
  app.get('/ui/*', open, (request, reply) => answer(request, reply, site))
}

function answer(request: FastifyRequest, reply: FastifyReply, site: string): FastifyReply {
  const [path = '', query] = request.url.split('?', 2)
  const found = findPage(path)
  const isBuilt = existsSync(join(site, 'index.html'))
  if (found === null) {
    if (!isBuilt || !isMistypedPage(path) || !acceptsHtml(request)) throw notFound(request)
    return reply
      .code(404)
      .headers({ ...headers, 'cache-control': 'no-store' })
      .sendFile('index.html')
  }
  if ('redirect' in found)
    return reply.redirect(query === undefined ? found.redirect : `${found.redirect}?${query}`)
  if (!isBuilt) throw new CatalogError('NOT_FOUND', 'The web UI is not built here; `npm run build` builds it')
  return reply
    .headers(headers)
    .header('cache-control', found.isHashed ? cacheControl.hashed : cacheControl.other)
    .sendFile(found.file)
}

/** A browser that shows a page, not one that loads a script or a style of it. */
const acceptsHtml = ({ headers: { accept } }: FastifyRequest): boolean =>
  accept?.includes('text/html') === true

const notFound = (request: FastifyRequest): CatalogError =>
  new CatalogError('NOT_FOUND', `No such page: ${request.url.split('?', 1)[0]?.slice(0, 200) ?? ''}`)
