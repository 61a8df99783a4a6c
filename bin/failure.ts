/** The exit codes, and the error of a command that ends with a message and one of them. */

export const exitCodes = {
  ok: 0,
  /** Bad usage, or refused by the server. */
  refused: 1,
  /** A load ended with rejects. */
  rejects: 2,
  /** A load failed, was aborted or cancelled; or a dry run found that it would fail. */
  loadEnded: 3,
  /** The server does not answer. */
  unreachable: 4,
  /** `--wait` ended before the load did. */
  stillRunning: 5,
  /** The configuration is invalid, or something it names does not answer (EX_CONFIG of sysexits). */
  config: 78
} as const

/** An expected failure: `message` is complete and for users. */
export class Refusal extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.refused, options?: ErrorOptions) {
    super(message, options)
    this.name = 'Refusal'
    this.exitCode = exitCode
  }
}

/** The message of an error. An AggregateError (for several addresses of one host) has it in its parts. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return (error.message || ('code' in error ? String(error.code) : error.name)).split('\n')[0] ?? error.name
}
