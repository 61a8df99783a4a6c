/**
 * Reads one record of the format `openlineage`: an event. Its changes are only known once it is merged with
 * earlier events, so its list of changes is empty.
 */
import type { ChangeRecord } from '../model/changes.ts'
import { contentOf } from '../openlineage/content.ts'
import { parseEvent } from '../openlineage/event.ts'
import { parseEventText } from '../openlineage/event-text.ts'

/** Throws BAD_REQUEST with the path, INVALID_URN, INVALID_CHARACTER and LIMIT_EXCEEDED. */
export function parseOpenLineageRecord(text: string, line: number): ChangeRecord {
  contentOf(parseEvent(parseEventText(text, 'The event')))
  return { line, changes: [] }
}
