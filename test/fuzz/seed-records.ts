/** The content of the catalog before random requests are sent. */
import type { JsonObject } from '../../shared/model/changes.ts'
import { datasetUrn } from './random.ts'

export const seedRecords: readonly JsonObject[] = [
  { op: 'createDomain', id: 'finance', name: 'Finance' },
  { op: 'createDomain', id: 'sales', name: 'Sales' },
  ...['a', 'b', 'c'].map((name): JsonObject => ({
    op: 'upsertEntity',
    urn: datasetUrn(name),
    name,
    description: 'made first'
  })),
  { op: 'upsertEntity', urn: 'urn:li:dataFlow:(airflow,nightly,PROD)' },
  { op: 'upsertEntity', urn: 'urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),load)' },
  { op: 'upsertEntity', urn: 'urn:li:chart:(looker,c)' },
  { op: 'upsertEntity', urn: 'urn:li:dashboard:(looker,d)' },
  { op: 'setDomain', entityUrn: datasetUrn('a'), domainUrn: 'urn:li:domain:finance' },
  { upstreamUrn: datasetUrn('a'), downstreamUrn: datasetUrn('b') },
  { upstreamUrn: datasetUrn('b'), downstreamUrn: datasetUrn('c') }
]
