/** Says why no embedded Postgres can run here, for the person at the terminal. */

const wayOut = 'Set DATABASE_URL to a PostgreSQL of your own (version 14 or newer) and start again.'

/** `message` is complete: the reason, then the remedy. It needs no stack trace. */
export class CannotEmbed extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`The embedded PostgreSQL cannot run here: ${reason} ${wayOut}`, options)
    this.name = 'CannotEmbed'
  }
}
