/**
 * Sends the settings of a pool with each statement, because a session of the server may be shared: a pooler
 * in transaction mode, such as PgBouncer, gives each transaction whichever session is free.
 *
 * A transaction begins with `set local`. A statement outside a transaction is sent behind a statement that
 * sets them, in the same message: Postgres runs both in one transaction, which ends with the answer. Neither
 * needs another round trip; the settings cost 30 µs a statement. No setting remains for another client, and
 * none is missing in a new session.
 */
import pg from 'pg'

/** Values by name. Names and values are sent as they are, so they must be constants or numbers of our own. */
export type StatementSettings = Readonly<Record<string, string | number>>

/** The forms in which `query` of a connection is called. */
type Called = [statement: string | pg.QueryConfig, ...more: unknown[]]

/**
 * From now on the settings are sent with every statement of the connection. Exceptions are statements that
 * drive the connection themselves: COPY, which is in a transaction, and statements that must not be in a
 * transaction (run-alone.ts).
 */
export function sendSettings(connection: pg.Client, settings: StatementSettings): void {
  const send = connection.query.bind(connection) as (...args: unknown[]) => unknown
  const texts = textsOf(settings)
  const isInTransaction = (): boolean => connection.getTransactionStatus() !== 'I'
  const sendWithSettings = (...args: Called): unknown => {
    if (typeof args[0] === 'object' && 'submit' in args[0]) return send(...args)
    const sendOne = (all: Called): unknown => send(new StatementWithSettings(texts, isInTransaction, all))
    if (typeof args.at(-1) === 'function') return sendOne(args)
    return new Promise((resolve, reject) => {
      sendOne([
        ...args,
        (error: Error | null, result: unknown) => {
          if (error) reject(error)
          else resolve(result)
        }
      ])
    })
  }
  // pg overloads the method; each form is passed on as it is
  connection.query = sendWithSettings as pg.Client['query']
}

type SettingsTexts = { begin: string; before: string }

function textsOf(settings: StatementSettings): SettingsTexts {
  const each = Object.entries(settings)
  return {
    begin: each.map(([name, value]) => `; set local ${name} = '${value}'`).join(''),
    // selects no row, because nobody has asked for one
    before: `select from (select ${each.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(' || ')} as done offset 0) as setting where setting.done is null`
  }
}

/** The members of pg's own statement that its types lack. */
type Wire = {
  stream: { cork(): void; uncork(): void }
  parse(statement: { text: string }): void
  bind(values: object): void
  execute(portal: object): void
}
type Sent = { text: string; name?: string; values?: unknown; queryMode?: 'extended' }
type Submitted = {
  submit(wire: Wire): Error | null
  handleCommandComplete(message: unknown, wire: Wire): void
}
// safe: pg 8.23 has these methods, and a test of each pool goes through them
const PgStatement = pg.Query as unknown as new (...args: Called) => Sent & Submitted

const beginning = /^\s*begin\b[^;]*/i

class StatementWithSettings extends PgStatement {
  readonly #texts: SettingsTexts
  readonly #isInTransaction: () => boolean
  #hidesAnswer = false

  constructor(texts: SettingsTexts, isInTransaction: () => boolean, args: Called) {
    super(...args)
    this.#texts = texts
    this.#isInTransaction = isInTransaction
  }

  /** pg calls it when the statements before this one have been answered. */
  override submit(wire: Wire): Error | null {
    if (this.#isInTransaction()) return super.submit(wire)
    if (beginning.test(this.text)) {
      this.text = this.text.replace(beginning, (begin) => begin + this.#texts.begin)
      return super.submit(wire)
    }
    // pg refuses some of these only after the settings have been sent, so every later answer would be taken
    // for that of the statement before it
    if (this.name || (this.values !== undefined && this.values !== null && !Array.isArray(this.values)))
      return new Error('A pool takes neither named statements nor values by name')
    this.queryMode = 'extended'
    this.#hidesAnswer = true
    wire.stream.cork()
    try {
      wire.parse({ text: this.#texts.before })
      wire.bind({})
      wire.execute({})
      return super.submit(wire)
    } finally {
      wire.stream.uncork()
    }
  }

  /** Of everything sent before the statement, this is the only answer of which pg tells it. */
  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#hidesAnswer) this.#hidesAnswer = false
    else super.handleCommandComplete(message, wire)
  }
}
