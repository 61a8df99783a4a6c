/** The name under which a load states its edges. */
import { CatalogError } from '../../errors.ts'
import { checkLine } from '../../model/text-checks.ts'

/** What an upload is called that names no source. */
export const defaultLoadSource = 'load'

/** Trimmed. Throws BAD_REQUEST, INVALID_CHARACTER or LIMIT_EXCEEDED (sourceNameMaxChars). */
export const checkedSource = (text: string, field: string): string =>
  checkLine(text, { field, limit: 'sourceNameMaxChars' })

/** What people and single proposals state is no job's to replace. */
const sourcesOfCalls = ['manual', 'proposal']

/** A snapshot replaces all that its source states, so its name is asked for. Throws BAD_REQUEST and as checkedSource does. */
export function checkedSnapshotSource(text: string | undefined, field: string): string {
  if (text === undefined)
    throw new CatalogError(
      'BAD_REQUEST',
      'A snapshot replaces what its source stated before: name the source',
      { field }
    )
  const source = checkedSource(text, field)
  if (sourcesOfCalls.includes(source))
    throw new CatalogError('BAD_REQUEST', `No snapshot can replace what the source ${source} states`, {
      field
    })
  return source
}
