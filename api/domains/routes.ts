/** GET /domains/export: which asset is in which domain, as a file that can be loaded again. */
import type { FastifyInstance } from 'fastify'
import { exportDomains } from '../../shared/catalog/domains/export-domains.ts'
import { withUrns } from '../../shared/catalog/search/reference-urns.ts'
import { CatalogError } from '../../shared/errors.ts'
import { printRow } from '../../shared/formats/csv-cells.ts'
import { limits } from '../../shared/limits.ts'
import type { ApiContext } from '../context.ts'
import { answerExport, exportPace, exportPlaces, paced, type ExportPace } from '../lineage/stream-export.ts'
import { readQuery } from '../query-parameters.ts'

type Associations = Parameters<Parameters<typeof exportDomains>[2]>[0]

async function* asCsv(slices: Associations): AsyncGenerator<string> {
  yield printRow(['resource', 'domain'])
  for await (const rows of slices)
    yield rows.map(({ entityUrn, domainUrn }) => printRow([entityUrn, domainUrn])).join('')
}

async function* asNdjson(slices: Associations): AsyncGenerator<string> {
  for await (const rows of slices)
    yield rows
      .map(({ entityUrn, domainUrn }) => `${JSON.stringify({ op: 'setDomain', entityUrn, domainUrn })}\n`)
      .join('')
}

const formats = {
  csv: { mediaType: 'text/csv; charset=utf-8; header=present', write: asCsv },
  ndjson: { mediaType: 'application/x-ndjson; charset=utf-8', write: asNdjson }
} as const

export function domainsRoutes(
  app: FastifyInstance,
  { db, lineage }: Pick<ApiContext, 'db' | 'lineage'>,
  pace: ExportPace = exportPace
): void {
  const places = exportPlaces('exports of domains')

  app.get(
    '/domains/export',
    { config: { access: 'read' }, exposeHeadRoute: false, handlerTimeout: limits.exportMaxMs + 10_000 },
    async (request, reply) => {
      const query = readQuery(request.query, ['format', 'domain'])
      const format = readFormat(query.format)
      return answerExport(request, reply, places, async (send) => {
        const { domain } = await withUrns(lineage, query, { domain: { entityType: 'domain' } })
        await exportDomains(db, domain ?? null, (slices) => {
          const { mediaType, write } = formats[format]
          reply.type(mediaType).header('content-disposition', `attachment; filename="domains.${format}"`)
          return send(paced(write(slices), pace))
        })
      })
    }
  )
}

function readFormat(text: string | undefined): keyof typeof formats {
  if (text !== undefined && text !== 'csv' && text !== 'ndjson')
    throw new CatalogError('BAD_REQUEST', 'format must be csv or ndjson', {
      field: 'format',
      allowed: Object.keys(formats)
    })
  return text ?? 'csv'
}
