/** The options of a load of a dbt project. */
import type { Connections } from '../../openlineage/connections.ts'
import type { ReadSql } from './read-columns.ts'
import type { StoredProjects } from './stored-project.ts'

export type DbtOptions = {
  /** Whether `meta.owner`, groups and the owners of exposures become owners. */
  owners: boolean
  /** Whether `meta.domain` sets the domain: of no asset, of those that never had one, or of all. */
  domains: 'no' | 'unset' | 'all'
  /** The OpenLineage namespace of the warehouse; null to derive it from the adapter. */
  namespace: string | null
}

export const defaultDbtOptions: DbtOptions = { owners: false, domains: 'no', namespace: null }

/** The options, the operator's mapping of namespaces, and what the catalog has. */
export type DbtReading = DbtOptions & {
  connections?: Connections | undefined
  /** Absent where nothing is stored, as for a body that is only examined. */
  stored?: StoredProjects
  /** Absent where no SQL is read: then nothing is known of it. */
  readSql?: ReadSql
}

/** Two submissions with different texts are not the same. */
export const optionsText = ({ owners, domains, namespace }: DbtOptions): string =>
  JSON.stringify([owners, domains, namespace])
