/** GET /lineage/export: the whole answer to a question about lineage, as a file. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { exportLineage, type LineageExport } from '../../shared/catalog/lineage/export-lineage.ts'
import { withUrns } from '../../shared/catalog/search/reference-urns.ts'
import { limits } from '../../shared/limits.ts'
import { nameFromUrn } from '../../shared/urn/kinds.ts'
import type { ApiContext } from '../context.ts'
import { csvOfEdges, csvOfEntities } from './csv.ts'
import { dotOf } from './dot.ts'
import { readExportQuery, type ExportContent, type ExportFormat } from './export-query.ts'
import { mermaidOf } from './mermaid.ts'
import { ndjsonOfEdges, ndjsonOfEntities, ndjsonOfGraph } from './ndjson.ts'
import { answerExport, exportPace, exportPlaces, paced, type ExportPace } from './stream-export.ts'

type Writer = (found: LineageExport) => AsyncGenerator<string>

const kinds: {
  readonly [Format in ExportFormat]: {
    mediaType: string
    extension: string
    write: { readonly [Content in ExportContent]?: Writer }
  }
} = {
  csv: {
    mediaType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    write: { entities: csvOfEntities, edges: csvOfEdges }
  },
  ndjson: {
    mediaType: 'application/x-ndjson; charset=utf-8',
    extension: 'ndjson',
    write: { entities: ndjsonOfEntities, edges: ndjsonOfEdges, graph: ndjsonOfGraph }
  },
  dot: { mediaType: 'text/vnd.graphviz; charset=utf-8', extension: 'dot', write: { graph: dotOf } },
  mermaid: { mediaType: 'text/vnd.mermaid; charset=utf-8', extension: 'mmd', write: { graph: mermaidOf } }
}

/** Includes the walk before the first row, and a margin so that the export's own deadline expires first. */
const handlerMaxMs = limits.exportMaxMs + limits.walkDeadlineMs + 10_000

const fileNameMaxChars = 80

export function lineageRoutes(
  app: FastifyInstance,
  { lineage }: Pick<ApiContext, 'lineage'>,
  pace: ExportPace = exportPace
): void {
  const places = exportPlaces('exports')

  app.get(
    '/lineage/export',
    { config: { access: 'read' }, handlerTimeout: handlerMaxMs },
    async (request, reply) => {
      const { input, format, of } = readExportQuery(request.query)
      return answerExport(request, reply, places, async (send) =>
        exportLineage(
          lineage,
          await withUrns(lineage, input, { urn: {}, domain: { entityType: 'domain' } }),
          (found) => {
            const write = describe(reply, found, format, of)
            return send(request.method === 'HEAD' ? Readable.from([]) : paced(write(found), pace))
          }
        )
      )
    }
  )
}

/** Sets the headers of the answer, and returns the writer of its body. */
function describe(
  reply: FastifyReply,
  { report, total, direction, startUrn }: LineageExport,
  format: ExportFormat,
  of: ExportContent
): Writer {
  const { mediaType, extension, write } = kinds[format]
  const writer = write[of]
  if (writer === undefined) throw new Error(`no writer of ${of} as ${format}`)
  reply.type(mediaType).headers({
    'content-disposition': `attachment; filename="lineage-${fileNameOf(nameFromUrn(startUrn))}-${direction.toLowerCase()}.${extension}"`,
    'x-lineage-complete': String(report.complete),
    'x-lineage-total': String(total),
    'x-lineage-hops': String(report.hops),
    'x-lineage-visited': String(report.visited),
    'x-lineage-engine': report.engine,
    ...(report.truncatedBy === null ? {} : { 'x-lineage-truncated-by': report.truncatedBy }),
    ...(report.timeWindow
      ? {
          'x-lineage-start-time': String(report.timeWindow.startTimeMillis),
          'x-lineage-end-time': String(report.timeWindow.endTimeMillis)
        }
      : {})
  })
  return writer
}

const fileNameOf = (name: string): string => name.replaceAll(/[^\w.-]+/g, '_').slice(0, fileNameMaxChars)
