/** The ordered list of migrations. Names carry no extension: the table schema_migration records them, from sources and from dist alike. */
import * as entities from './0001-entities.ts'
import * as aspects from './0002-aspects.ts'
import * as lineage from './0003-lineage.ts'
import * as domains from './0004-domains.ts'
import * as loads from './0005-loads.ts'
import * as access from './0006-access.ts'
import * as graphChange from './0007-graph-change.ts'
import * as loadLife from './0008-load-life.ts'
import * as snapshots from './0009-snapshots.ts'
import * as undo from './0010-undo.ts'
import * as loadHeader from './0011-load-header.ts'
import * as absences from './0012-absences.ts'
import * as deletedAspects from './0013-deleted-aspects.ts'
import * as search from './0014-search.ts'
import * as loadTraces from './0015-load-traces.ts'
import * as relationships from './0016-relationships.ts'
import * as coarseSample from './0017-coarse-sample.ts'
import * as externalDelta from './0018-external-delta.ts'
import * as changedSeq from './0019-changed-seq.ts'
import * as runsAndReferences from './0020-runs-and-references.ts'
import * as jobColumns from './0021-job-columns.ts'
import * as openLineage from './0022-openlineage.ts'

/** A migration is frozen once released: it imports nothing that can change. */
export type Migration = { up: string; down: string }

export const migrations: readonly { name: string; migration: Migration }[] = [
  { name: '0001-entities', migration: entities },
  { name: '0002-aspects', migration: aspects },
  { name: '0003-lineage', migration: lineage },
  { name: '0004-domains', migration: domains },
  { name: '0005-loads', migration: loads },
  { name: '0006-access', migration: access },
  { name: '0007-graph-change', migration: graphChange },
  { name: '0008-load-life', migration: loadLife },
  { name: '0009-snapshots', migration: snapshots },
  { name: '0010-undo', migration: undo },
  { name: '0011-load-header', migration: loadHeader },
  { name: '0012-absences', migration: absences },
  { name: '0013-deleted-aspects', migration: deletedAspects },
  { name: '0014-search', migration: search },
  { name: '0015-load-traces', migration: loadTraces },
  { name: '0016-relationships', migration: relationships },
  { name: '0017-coarse-sample', migration: coarseSample },
  { name: '0018-external-delta', migration: externalDelta },
  { name: '0019-changed-seq', migration: changedSeq },
  { name: '0020-runs-and-references', migration: runsAndReferences },
  { name: '0021-job-columns', migration: jobColumns },
  { name: '0022-openlineage', migration: openLineage }
]
