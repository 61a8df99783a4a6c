/** The ordered list of migrations. Names carry no extension: the table schema_migration records them, from sources and from dist alike. */
import * as baseline from './0001-baseline.ts'
import * as domainRules from './0002-domain-rules.ts'
import * as openLineageNames from './0003-openlineage-names.ts'
import * as webSession from './0004-web-session.ts'
import * as openLineageNamespaces from './0005-openlineage-namespaces.ts'
import * as people from './0006-people.ts'
import * as workers from './0007-workers.ts'
import * as refusedPeople from './0008-refused-people.ts'
import * as loadTraceparent from './0009-load-traceparent.ts'
import * as severalDomains from './0010-several-domains.ts'
import * as tokenMakers from './0011-token-makers.ts'
import * as loadWarnings from './0012-load-warnings.ts'
import * as upsertReplaces from './0013-upsert-replaces.ts'
import * as eventSubjects from './0014-event-subjects.ts'
import * as eventSubjectsIndex from './0015-event-subjects-index.ts'
import * as rareRowsAndNames from './0016-rare-rows-and-names.ts'
import * as removedEntities from './0017-removed-entities.ts'

/** An index on a table that may be large: `create index concurrently NAME on ON`. */
export type Index = { name: string; on: string }

/**
 * A migration is frozen once released: it imports nothing that can change. It has either `up`, a script that
 * runs in one transaction, or `indexes`, which are created outside of one, so that writers are not held up.
 * test/rules/migrations.test.ts says which statements `up` may have.
 *
 * `needs` names the migration that a running process must know to work beside this one. For a migration that
 * only adds, that is the baseline. For one that removes something, it is the migration that came with the
 * release that stopped using it.
 */
export type Migration = { name: string; needs: string } & ({ up: string } | { indexes: readonly Index[] })

const additive = { needs: '0001-baseline' } as const

export const migrations: readonly Migration[] = [
  { name: '0001-baseline', ...additive, up: baseline.up },
  { name: '0002-domain-rules', ...additive, up: domainRules.up },
  { name: '0003-openlineage-names', ...additive, indexes: openLineageNames.indexes },
  { name: '0004-web-session', ...additive, up: webSession.up },
  { name: '0005-openlineage-namespaces', ...additive, indexes: openLineageNamespaces.indexes },
  { name: '0006-people', ...additive, up: people.up },
  { name: '0007-workers', ...additive, up: workers.up },
  { name: '0008-refused-people', ...additive, up: refusedPeople.up },
  { name: '0009-load-traceparent', ...additive, up: loadTraceparent.up },
  { name: '0010-several-domains', ...additive, up: severalDomains.up },
  { name: '0011-token-makers', ...additive, up: tokenMakers.up },
  { name: '0012-load-warnings', ...additive, up: loadWarnings.up },
  { name: '0013-upsert-replaces', ...additive, up: upsertReplaces.up },
  { name: '0014-event-subjects', ...additive, up: eventSubjects.up },
  { name: '0015-event-subjects-index', ...additive, indexes: eventSubjectsIndex.indexes },
  { name: '0016-rare-rows-and-names', ...additive, indexes: rareRowsAndNames.indexes },
  { name: '0017-removed-entities', ...additive, indexes: removedEntities.indexes }
]
