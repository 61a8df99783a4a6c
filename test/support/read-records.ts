/** The records that are read from a body, one by one. */
import { edgesOfRun } from '../../shared/formats/edge-runs.ts'
import type { ReadRecord, SingleRecord } from '../../shared/formats/read-records.ts'

export const oneByOne = (entries: readonly ReadRecord[]): SingleRecord[] =>
  entries.flatMap((entry) => ('count' in entry ? [...edgesOfRun(entry)] : [entry]))
