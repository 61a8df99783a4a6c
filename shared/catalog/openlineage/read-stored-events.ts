/** Reads the stored OpenLineage events, as they were sent. */
import type { Db } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import { pageOfStoredEvents, type EventsQuestion } from '../../store/named-assets.ts'

/**
 * A page ends before its events exceed openLineageBatchMaxBytes together, and says so. To continue, ask with
 * the offset after the last event received.
 */
export const readStoredEvents = (
  db: Db,
  question: Omit<EventsQuestion, 'maxBytes'>
): ReturnType<typeof pageOfStoredEvents> =>
  pageOfStoredEvents(db, { ...question, maxBytes: limits.openLineageBatchMaxBytes })
