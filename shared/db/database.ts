/** The handles to Postgres: two branded types that say whether a transaction is open. */
import type { Knex } from 'knex'

/** A pool. Reads that need no transaction may run on it. */
export type Db = Knex & { readonly __handle?: 'db' }

/**
 * An open transaction. Every function that writes requires one, so that a write outside a transaction does
 * not compile.
 */
export type Tx = Knex.Transaction & { readonly __handle?: 'tx' }
