/**
 * Finds the orchestrator of a job by DataHub's rules: the integration, the engine, or the producer's address.
 */
import type { JsonValue } from '../model/changes.ts'
import { isObject } from '../model/json-values.ts'
import type { OpenLineageEvent } from './event.ts'

const producers: readonly (readonly [RegExp, string])[] = [
  [/github\.com\/apache\/airflow/i, 'airflow'],
  [/github\.com\/trinodb\/trino/i, 'trino']
]
const integration = /github\.com\/OpenLineage\/OpenLineage\/.*\/([\w-]+)\/?$/i

/** `unknown` if the event does not name one. For a dataset event, only the producer's address is used. */
export function orchestratorOf(event: OpenLineageEvent): string {
  const engine = event.kind === 'run' ? textOf(event.run.facets.processing_engine, 'name') : null
  const named = event.kind === 'dataset' ? null : (textOf(event.job.facets.jobType, 'integration') ?? engine)
  if (named !== null) return named.toLowerCase()
  const known = producers.find(([pattern]) => pattern.test(event.producer))
  return known?.[1] ?? integration.exec(event.producer)?.[1]?.toLowerCase() ?? 'unknown'
}

function textOf(facet: JsonValue | undefined, key: string): string | null {
  const text = isObject(facet) ? facet[key] : null
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null
}
