/** The name under which a load states its edges. */
import { CatalogError } from '../../errors.ts'
import { checkLine } from '../../model/text-checks.ts'

/** The source of an upload that names none. */
export const defaultLoadSource = 'load'

/** Trims the name. Throws BAD_REQUEST, INVALID_CHARACTER or LIMIT_EXCEEDED (sourceNameMaxChars). */
export const checkedSource = (text: string, field: string): string =>
  checkLine(text, { field, limit: 'sourceNameMaxChars' })

/** A job must not replace what people and single proposals state. */
const sourcesOfCalls = ['manual', 'proposal']

/**
 * A snapshot replaces everything that its source states, so its source must be named. Throws BAD_REQUEST and
 * as checkedSource does.
 */
export function checkedSnapshotSource(text: string | undefined, field: string): string {
  if (text === undefined)
    throw new CatalogError(
      'BAD_REQUEST',
      'A snapshot replaces what its source stated before: name the source',
      { field }
    )
  const source = checkedSource(text, field)
  if (sourcesOfCalls.includes(source))
    throw new CatalogError('BAD_REQUEST', `A snapshot cannot replace what the source ${source} states`, {
      field
    })
  return source
}
