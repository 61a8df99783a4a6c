/** From whatever was thrown to a line for the person and an exit code for the shell. */
import { CannotEmbed } from '../dev/embedded-postgres/cannot-embed.ts'
import { NewerSchemaError } from '../shared/db/migrate.ts'
import { isConnectionTrouble } from '../shared/db/sql-errors.ts'
import { CatalogError } from '../shared/errors.ts'
import { ConfigError } from '../shared/platform/config.ts'
import { withoutSecrets } from '../shared/platform/log.ts'

export const exitCodes = {
  ok: 0,
  /** Bad usage, or refused by the server. */
  refused: 1,
  /** A load ended with rejects. */
  rejects: 2,
  /** A load failed, was aborted or was cancelled. */
  loadEnded: 3,
  /** The server does not answer. */
  unreachable: 4,
  /** `--wait` ended before the load did. */
  stillRunning: 5,
  /** The configuration cannot be used, or names something that does not answer (EX_CONFIG of sysexits). */
  config: 78
} as const

/** An expected end: `message` is whole and plain. */
export class Refusal extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.refused, options?: ErrorOptions) {
    super(message, options)
    this.name = 'Refusal'
    this.exitCode = exitCode
  }
}

/** What to print and how to end. A stack is shown only for what nobody expected. */
export function describeFailure(error: unknown): { message: string, exitCode: number } {
  if (error instanceof Refusal) return { message: withoutSecrets(error.message), exitCode: error.exitCode }
  if (error instanceof ConfigError || error instanceof CannotEmbed || error instanceof NewerSchemaError) {
    return { message: withoutSecrets(error.message), exitCode: exitCodes.config }
  }
  if (error instanceof CatalogError) return { message: `${error.code}: ${error.message}`, exitCode: exitCodes.refused }
  if (isConnectionTrouble(error)) {
    return { message: `The database does not answer: ${withoutSecrets(reasonOf(error))}`, exitCode: exitCodes.config }
  }
  const text = error instanceof Error ? error.stack ?? error.message : String(error)
  return { message: withoutSecrets(text), exitCode: exitCodes.refused }
}

/** The first words of an error; an AggregateError (several addresses of one host tried) has them inside. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return (error.message || ('code' in error ? String(error.code) : error.name)).split('\n')[0] ?? error.name
}
