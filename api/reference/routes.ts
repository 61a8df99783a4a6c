/** GET /openapi.json: the REST API described as OpenAPI 3.1, for tools and for the reference in the web UI. */
import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { sessionCookie } from '../web/session-cookie.ts'
import { readPackage } from '../../shared/platform/package.ts'
import { catalogDescriptions } from './catalog.ts'
import { datahubDescriptions } from './datahub.ts'
import { object, ref, tags, text, type Answer, type Description, type Schema } from './description.ts'
import { loadDescriptions } from './loads.ts'
import { openLineageDescriptions } from './openlineage.ts'
import { shapes } from './shapes.ts'

/** In the order of the reference: our own routes first. */
export const descriptions: ReadonlyMap<string, Description> = new Map(
  [loadDescriptions, catalogDescriptions, openLineageDescriptions, datahubDescriptions].flatMap((each) =>
    Object.entries(each)
  )
)

/** Routes outside of the REST API, with the reason. */
export const undescribed: ReadonlyMap<string, string> = new Map([
  ['GET /', 'redirects a browser to the web UI'],
  ['GET /sign-in', 'redirects a browser to the identity provider'],
  ['GET /sign-in-callback', 'receives a browser that comes back from the identity provider'],
  ['GET /ui/', 'a page of the web UI'],
  ['GET /ui/*', 'pages and files of the web UI']
])

/** Add it before the routes, because it watches them being added. */
export async function addReference(app: FastifyInstance): Promise<void> {
  for (const [name, shape] of Object.entries(shapes)) app.addSchema({ $id: name, ...shape })
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tributary',
        version: readPackage().version,
        description:
          'The REST API of a metadata catalog for domains and lineage. GraphQL describes itself, and has most of the reads. Paths are relative to the address of this description.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }
      },
      // relative to /openapi.json, so that it is right below any prefix of a proxy
      servers: [{ url: './' }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'An access token.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: sessionCookie,
            description:
              'The cookie of a browser; every method except GET and HEAD also needs the header x-csrf-token.'
          }
        }
      }
    },
    stripBasePath: false,
    convertConstToEnum: false,
    exposeHeadRoutes: true,
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, index) =>
        typeof $id === 'string' ? $id : `shape-${index}`
    },
    transform: ({ url, route }) => {
      const description = descriptions.get(`${[route.method].flat().join(',')} ${route.url}`)
      return description === undefined
        ? { schema: { hide: true }, url }
        : {
            schema: schemaOf(description, route),
            url: (description.path ?? url).replaceAll(/\{(\w+)\}/g, ':$1')
          }
    }
  })
}

export function referenceRoutes(app: FastifyInstance): void {
  let printed: string | null = null
  app.get('/openapi.json', { config: { access: 'open' } }, (_request, reply) => {
    printed ??= printReference(app)
    return reply.type('application/json; charset=utf-8').send(printed)
  })
}

function printReference(app: FastifyInstance): string {
  const { paths, ...rest } = app.swagger()
  return JSON.stringify({ ...rest, paths: inOrder(paths ?? {}) })
}

/** Paths in the order of the descriptions, whatever the order in which routes are registered. */
function inOrder(paths: object): object {
  const places = new Map(
    [...descriptions].map(([route, { path }], index) => [
      path ?? (route.split(' ')[1] ?? '').replaceAll(/:(\w+)/g, '{$1}'),
      index
    ])
  )
  return Object.fromEntries(
    Object.entries(paths).toSorted(([one], [other]) => (places.get(one) ?? 0) - (places.get(other) ?? 0))
  )
}

/** The required access comes from the route itself, as in api/auth.ts. */
function schemaOf(description: Description, route: RouteOptions): FastifySchema {
  const method = [route.method].flat()[0] ?? 'GET'
  const access = route.config?.access ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write')
  const { tag, summary, more, query, headers, body, bodies, answers } = description
  const names = [...(description.path ?? route.url).matchAll(/[:{](\w+)/g)].map(([, name = '']) => name)
  const params = Object.fromEntries(
    names.map((name) => [name, description.params?.[name] ?? text('Percent-encoded.')])
  )
  return {
    tags: [tag],
    summary,
    description: [more, access === 'open' ? 'Needs no token.' : `Needs the scope \`${access}\`.`]
      .filter((part) => part !== undefined)
      .join('\n\n'),
    operationId: operationIdOf(method, description.path ?? route.url),
    security: access === 'open' ? [] : [{ token: [] }, { session: [] }],
    ...(names.length === 0 ? {} : { params: object(params) }),
    ...(query === undefined
      ? {}
      : { querystring: { type: 'object', properties: query, required: description.required ?? [] } }),
    ...(headers === undefined ? {} : { headers: { type: 'object', properties: headers } }),
    ...(body === undefined ? {} : { body }),
    ...(bodies === undefined ? {} : { body: { content: contentOf(bodies) } }),
    response: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)])),
      default: {
        description: 'An error; nothing was changed.',
        content: contentOf(errorsOf(description, route.url))
      }
    }
  }
}

/** Clients of DataHub expect its errors; everything else is a problem of RFC 9457. */
export const errorsOf = ({ tag }: Description, url: string): { readonly [mediaType: string]: Schema } =>
  tag !== 'datahub'
    ? { 'application/problem+json': ref('Problem') }
    : { 'application/json': ref(url.startsWith('/openapi/') ? 'OpenApiError' : 'RestLiError') }

function responseOf({ is, json, bodies, headers }: Answer): Schema {
  const content = bodies ?? (json === undefined ? null : { 'application/json': json })
  return {
    description: is,
    ...(headers === undefined ? {} : { headers }),
    ...(content === null ? { type: 'null' } : { content: contentOf(content) })
  }
}

const contentOf = (bodies: { readonly [mediaType: string]: Schema }): Schema =>
  Object.fromEntries(Object.entries(bodies).map(([mediaType, schema]) => [mediaType, { schema }]))

/** `POST /loads/:id/retry` is `postLoadsIdRetry`. */
const operationIdOf = (method: string, path: string): string =>
  method.toLowerCase() +
  path
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
