/**
 * One row of docs/specification.md: its title begins with the row's id, and `prove` is the test that fails if
 * the code it covers breaks.
 */
import type { Test } from 'tap'
import type { Db } from '../../shared/db/database.ts'
import type { CatalogClient } from '../support/catalog-client.ts'

export type SpecificationRow = {
  title: string
  prove: (t: Test, catalog: CatalogClient, db: Db) => Promise<void>
}

export const row = (title: string, prove: SpecificationRow['prove']): SpecificationRow => ({ title, prove })

/** The id at the beginning of a title. */
export const idOf = (title: string): string => title.slice(0, title.indexOf(':'))

export const datasetUrn = (name: string, env = 'PROD'): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,${name},${env})`

export const columnUrn = (parentUrn: string, fieldPath: string): string =>
  `urn:li:schemaField:(${parentUrn},${fieldPath})`
