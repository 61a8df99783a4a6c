/** Listings of the datasets and jobs of a namespace, as Marquez' routes ask for them. */
export const indexes = [
  // The datasets and jobs that events named with a namespace.
  {
    name: 'openlineage_state_namespace_idx',
    on: `openlineage_state ((state ->> 'namespace')) where state ->> 'kind' in ('dataset', 'job')`
  }
]
