/** Reports whose answer is wrong here, or is not given, and why it stays so. */
import type { Left } from './trial.ts'

export const left: readonly Left[] = [
  {
    reports: ['open-metadata/OpenMetadata 21536'],
    tried: 'A column with edges on both sides that a newer schema of its table no longer has',
    why: 'the edges stay, and the column reads as existing: an edge ends when its source takes it back, because a schema may know only some columns. The next snapshot, or the next event with columns, ends it'
  },
  {
    reports: ['MarquezProject/marquez 3065'],
    tried:
      'The lineage of a version of a table: what the run that wrote it had read, and what those runs had read',
    why: 'versions of tables are not kept. Each run keeps its own inputs and outputs, and a walk can be limited to a time by the first and the last use of an edge'
  },
  {
    reports: ['trinodb/trino 25728'],
    tried: 'A namespace without its scheme, such as `trino:8080`',
    why: 'the name becomes one of the platform `unknown`, as DataHub does it. A connection in `OPENLINEAGE_CONNECTIONS` says what such a namespace means'
  },
  {
    reports: ['open-metadata/OpenMetadata 24995', 'open-metadata/OpenMetadata 24180'],
    tried: 'A token limited to a domain that searches and reads what is in other domains',
    why: 'it finds and reads everything: domains limit what a token may change, never what it may read. docs/api.md says so'
  },
  {
    reports: ['open-metadata/OpenMetadata 29645', 'open-metadata/OpenMetadata 31682'],
    tried: 'Results of dbt tests in run_results.json, passed and failed',
    why: 'tests are not kept: the load says in its warnings how many there were'
  }
]
