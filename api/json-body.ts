/**
 * Reads JSON bodies. Refuses bytes that are not UTF-8, prototype keys, numbers that would lose digits, and
 * compression. Other media types are refused unless a route reads them.
 */
import type { FastifyInstance } from 'fastify'
import { CatalogError } from '../shared/errors.ts'
import { checkNumbers } from '../shared/model/json-checks.ts'
import { checkKeyCounts } from '../shared/model/json-keys.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Replaces the framework's parsers, which would replace bytes that are not UTF-8. A byte order mark is
 * accepted.
 */
export function addJsonBody(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const encoding = request.headers['content-encoding']
      if (encoding !== undefined && encoding !== 'identity') {
        throw new CatalogError(
          'UNSUPPORTED_MEDIA_TYPE',
          'This route does not accept compressed bodies; POST /loads does',
          {
            allowed: ['identity']
          }
        )
      }
      const text = decode(body)
      checkKeyCounts(text, 'body')
      // secure-json-parse refuses __proto__ and constructor.prototype; its errors are faults of the request.
      void parseJson(request, text, (error, value) => {
        if (error) done(new CatalogError('BAD_REQUEST', 'The body is not JSON', {}, { cause: error }))
        else done(numberFault(text), value)
      })
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

/** The error that checkNumbers throws, if any. */
function numberFault(text: string): Error | null {
  try {
    checkNumbers(text)
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function decode(body: string | Buffer): string {
  try {
    return typeof body === 'string' ? body : utf8.decode(body)
  } catch (cause) {
    throw new CatalogError('BAD_REQUEST', 'The body is not UTF-8', {}, { cause })
  }
}
