/** The ordered list of migrations. Names carry no extension: the table schema_migration records them, from sources and from dist alike. */
import * as baseline from './0001-baseline.ts'
import * as domainRules from './0002-domain-rules.ts'
import * as openLineageNames from './0003-openlineage-names.ts'
import * as webSession from './0004-web-session.ts'
import * as openLineageNamespaces from './0005-openlineage-namespaces.ts'
import * as people from './0006-people.ts'
import * as workers from './0007-workers.ts'
import * as refusedPeople from './0008-refused-people.ts'
import * as openLineageOtherNames from './0009-openlineage-other-names.ts'

/** A migration is frozen once released: it imports nothing that can change. `up` is SQL. */
export type Migration = { name: string; up: string }

export const migrations: readonly Migration[] = [
  { name: '0001-baseline', up: baseline.up },
  { name: '0002-domain-rules', up: domainRules.up },
  { name: '0003-openlineage-names', up: openLineageNames.up },
  { name: '0004-web-session', up: webSession.up },
  { name: '0005-openlineage-namespaces', up: openLineageNamespaces.up },
  { name: '0006-people', up: people.up },
  { name: '0007-workers', up: workers.up },
  { name: '0008-refused-people', up: refusedPeople.up },
  { name: '0009-openlineage-other-names', up: openLineageOtherNames.up }
]
