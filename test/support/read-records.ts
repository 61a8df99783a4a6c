/** The records that are read from a body, one by one. */
import { edgesOfRun } from '../../shared/formats/edge-runs.ts'
import type { ReadRecord } from '../../shared/formats/read-records.ts'
import type { SingleRecord } from '../../shared/formats/read-text.ts'

/** Names are left as they are, so their records are refused. */
export const oneByOne = (entries: readonly ReadRecord[]): SingleRecord[] =>
  entries.flatMap((entry) =>
    'count' in entry ? [...edgesOfRun(entry)] : 'names' in entry ? [entry.withUrns({})] : [entry]
  )
