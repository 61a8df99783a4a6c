/** Reads the OpenLineage events that are kept, as they came. */
import type { Db } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import { pageOfStoredEvents, type EventsQuestion } from '../../store/named-assets.ts'

/** A page ends before its events have more than openLineageBatchMaxBytes together, and says so. Who reads on asks with the offset behind the last event it got. */
export const readStoredEvents = (
  db: Db,
  question: Omit<EventsQuestion, 'maxBytes'>
): ReturnType<typeof pageOfStoredEvents> =>
  pageOfStoredEvents(db, { ...question, maxBytes: limits.openLineageBatchMaxBytes })
