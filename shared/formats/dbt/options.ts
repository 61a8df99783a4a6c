/** What a load of a dbt project is told beside the project. */
import type { Connections } from '../../openlineage/connections.ts'

export type DbtOptions = {
  /** Whether `meta.owner`, groups and owners of exposures become owners. */
  owners: boolean
  /** Whether `meta.domain` becomes the domain: not at all, of assets that have never had one, or of all. */
  domains: 'no' | 'unset' | 'all'
  /** The OpenLineage namespace of the warehouse; null is what the adapter says. */
  namespace: string | null
}

export const defaultDbtOptions: DbtOptions = { owners: false, domains: 'no', namespace: null }

/** With what the operator says of namespaces. */
export type DbtReading = DbtOptions & { connections?: Connections | undefined }

/** Two submissions that differ in it are not the same. */
export const optionsText = ({ owners, domains, namespace }: DbtOptions): string =>
  JSON.stringify([owners, domains, namespace])
