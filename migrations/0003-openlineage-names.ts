/**
 * Indexes for Marquez' routes: they read OpenLineage jobs by the names in events, and events in the order of
 * their time.
 */
export const indexes = [
  // Finds a job by the name that events gave it: its URN begins with an orchestrator that the name does not
  // contain.
  {
    name: 'openlineage_state_job_name_idx',
    on: `openlineage_state ((state ->> 'namespace'), (state ->> 'name')) where state ->> 'kind' = 'job'`
  },
  // Serves pages of events in the order of their time.
  { name: 'openlineage_event_event_time_digest_idx', on: 'openlineage_event (event_time, digest)' }
]
