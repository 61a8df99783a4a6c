/** Finds the stored events about a run, a job or a dataset. */
export const indexes = [
  {
    name: 'openlineage_event_subjects_idx',
    on: 'openlineage_event using gin (subjects) with (gin_pending_list_limit = 256)'
  }
]
