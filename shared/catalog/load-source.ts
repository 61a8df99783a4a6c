/** The name under which a load states its edges. */
import { checkLine } from '../model/text-checks.ts'

/** What an upload is called that names no source. */
export const defaultLoadSource = 'load'

/** Trimmed. Throws BAD_REQUEST, INVALID_CHARACTER or LIMIT_EXCEEDED (sourceNameMaxChars). */
export const checkedSource = (text: string, field: string): string => checkLine(text, { field, limit: 'sourceNameMaxChars' })
