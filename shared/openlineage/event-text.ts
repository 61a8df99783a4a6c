/** Parses the text of events without losing digits, in bounded time. */
import { parseExactly } from '../model/exact-json.ts'
import { syntaxFault } from '../model/json-checks.ts'
import { checkKeyCounts } from '../model/json-keys.ts'

/**
 * The result is not checked, and only printExactly may print it. `what` names the text in errors. Throws
 * BAD_REQUEST if the text is not JSON, LIMIT_EXCEEDED (jsonObjectKeysMaxCount).
 */
export function parseEventText(text: string, what: string): unknown {
  checkKeyCounts(text, 'body')
  try {
    return parseExactly(text)
  } catch (cause) {
    throw syntaxFault(what, cause)
  }
}
