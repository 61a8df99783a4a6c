/** Tells from a request's head which format its body is in, or which it may be in: then the body tells. */
import { CatalogError } from '../../shared/errors.ts'
import { formatsOfLines, recordFormats, type RecordFormat } from '../../shared/formats/parse-record.ts'
import type { SentFormat } from '../../shared/formats/read-records.ts'

const lines: SentFormat = formatsOfLines
const json: SentFormat = ['mcp', 'ndjson', 'openlineage', 'dbt']
const any: SentFormat = ['ndjson', 'csv', 'mcp', 'openlineage', 'dbt']

/** What a Content-Type says. Those that clients send without being asked say nothing. */
const formatsOfMediaTypes = new Map<string, SentFormat>([
  ['application/x-ndjson', lines],
  ['application/ndjson', lines],
  ['application/jsonl', lines],
  ['application/x-jsonlines', lines],
  ['application/json', json],
  ['text/csv', 'csv'],
  ['application/csv', 'csv'],
  ['', any],
  ['application/octet-stream', any],
  ['application/x-www-form-urlencoded', any],
  ['text/plain', any]
])

/** Throws UNSUPPORTED for a format that there is not, UNSUPPORTED_MEDIA_TYPE for a Content-Type that no format has. */
export function readFormat(parameter: string | undefined, contentType: string | undefined): SentFormat {
  if (parameter !== undefined) return formatOf(parameter)
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const found = formatsOfMediaTypes.get(mediaType)
  if (found) return found
  const allowed = [...formatsOfMediaTypes.keys()].filter((type) => type !== '')
  throw new CatalogError(
    'UNSUPPORTED_MEDIA_TYPE',
    `No format has the Content-Type ${mediaType.slice(0, 100)}; send one that has, or say ?format=`,
    { field: 'format', allowed }
  )
}

function formatOf(parameter: string): RecordFormat {
  const found = recordFormats.find((known) => known === parameter)
  if (!found)
    throw new CatalogError(
      'UNSUPPORTED',
      `This version does not read the format ${parameter.slice(0, 100)}`,
      { field: 'format', allowed: recordFormats }
    )
  return found
}
