/** Finds the format of a body from the request's head. If several are possible, the body decides later. */
import { CatalogError } from '../../shared/errors.ts'
import { formatsByMediaType, recordFormats, type RecordFormat } from '../../shared/formats/load-formats.ts'
import type { SentFormat } from '../../shared/formats/read-records.ts'

/** The formats of each Content-Type. Those that clients send by default leave it open. */
const formatsOfMediaTypes: ReadonlyMap<string, typeof recordFormats> = new Map([
  ...formatsByMediaType,
  ...['', 'application/octet-stream', 'application/x-www-form-urlencoded', 'text/plain'].map(
    (type) => [type, recordFormats] as const
  )
])

/** Throws UNSUPPORTED for an unknown format, UNSUPPORTED_MEDIA_TYPE for a Content-Type without a format. */
export function readFormat(parameter: string | undefined, contentType: string | undefined): SentFormat {
  if (parameter !== undefined) return formatOf(parameter)
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const found = formatsOfMediaTypes.get(mediaType)
  // A Content-Type with only one format decides, whatever the body looks like.
  if (found) return found.length === 1 ? found[0] : found
  const allowed = [...formatsOfMediaTypes.keys()].filter((type) => type !== '')
  throw new CatalogError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Unknown Content-Type ${mediaType.slice(0, 100)}; send a known one, or set ?format=`,
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
