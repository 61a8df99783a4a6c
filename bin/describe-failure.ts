/**
 * Turns any error into the message to print and the exit code. It knows the errors of every layer, so it is
 * only loaded after an error.
 */
import { CannotEmbed } from '../dev/embedded-postgres/cannot-embed.ts'
import { MigrationBlockedError, MigrationForbiddenError, UnknownSchemaError } from '../shared/db/migrate.ts'
import { isConnectionTrouble } from '../shared/db/sql-errors.ts'
import { CatalogError } from '../shared/errors.ts'
import { ConfigError } from '../shared/platform/config.ts'
import { withoutSecrets } from '../shared/platform/without-secrets.ts'
import { exitCodes, reasonOf, Refusal } from './failure.ts'

/** A stack is only shown for unexpected errors. */
export function describeFailure(error: unknown): { message: string; exitCode: number } {
  if (error instanceof Refusal) return { message: withoutSecrets(error.message), exitCode: error.exitCode }
  if (
    error instanceof ConfigError ||
    error instanceof CannotEmbed ||
    error instanceof UnknownSchemaError ||
    error instanceof MigrationForbiddenError
  ) {
    return { message: withoutSecrets(error.message), exitCode: exitCodes.config }
  }
  if (error instanceof CatalogError)
    return { message: `${error.code}: ${error.message}`, exitCode: exitCodes.refused }
  if (error instanceof MigrationBlockedError) return { message: error.message, exitCode: exitCodes.refused }
  if (isConnectionTrouble(error)) {
    return {
      message: `The database does not answer: ${withoutSecrets(reasonOf(error))}`,
      exitCode: exitCodes.config
    }
  }
  if (isPortTaken(error))
    return {
      message: `The port ${error.port} is in use. Name another with PORT (WORKER_PORT for a worker).`,
      exitCode: exitCodes.config
    }
  if (isOfFile(error)) return { message: withoutSecrets(error.message), exitCode: exitCodes.config }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { message: withoutSecrets(text), exitCode: exitCodes.refused }
}

/** A file or folder that is missing, or may not be read or written. Its message names the path. */
const isOfFile = (error: unknown): error is Error =>
  error instanceof Error && 'syscall' in error && 'path' in error && error.syscall !== 'connect'

const isPortTaken = (error: unknown): error is Error & { port: number } =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'EADDRINUSE' &&
  'port' in error &&
  typeof error.port === 'number'
