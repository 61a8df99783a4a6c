/** Everything that `npm run abuse` sends, by group. */
import type { Attack } from './attack.ts'
import { heavyReads } from './heavy-reads.ts'
import { largeSql } from './large-sql.ts'
import { longDocuments } from './long-documents.ts'
import { oneClient } from './one-client.ts'
import { probes } from './probes/probes.ts'
import { slowConnections } from './slow-connections.ts'
import { smallPatches } from './small-patches.ts'

/** Each group begins with a new process, so that garbage of the previous group does not count. */
export const groups: readonly (readonly Attack[])[] = [
  heavyReads,
  longDocuments,
  smallPatches,
  oneClient,
  largeSql
]

export const attackNames: readonly string[] = [...groups.flat(), ...probes, ...slowConnections].map(
  ({ name }) => name
)
