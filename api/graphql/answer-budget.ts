/**
 * Bounds the size of one answer while its fields are resolved, and gives other requests their turn in
 * between.
 *
 * graphql resolves everything that needs no waiting at once: a page of 10,000 results blocked every other
 * client. Here long lists are handed over in parts. An answer over a bound ends at once, with one error and
 * no data.
 */
import {
  defaultFieldResolver,
  getNullableType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLSchema
} from 'graphql'
import type { ReadGate } from '../../shared/catalog/lineage/read-gate.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits, type LimitName } from '../../shared/limits.ts'
import { metrics } from '../../shared/platform/metrics.ts'

/** Fields resolved between two turns of the event loop: a few milliseconds. */
const fieldsPerTurn = 250
/** Items handed over in one turn: at first, and at most. */
const itemsPerTurn = { first: 50, most: 250 }
/** An answer with more fields is large; few large answers are made at once. */
const largeFieldCount = 20_000
/** The quotes, colon and comma of a field, or the comma of an item. */
const punctuationBytes = 4

/** For an answer that nobody waits for: an error for each field would be as long as the answer. */
const unanswered = (): Promise<never> => new Promise(() => {})

export class AnswerBudget {
  #fieldCount = 0
  #readCount = 0
  #byteCount = 0
  #sinceTurn = 0
  #perTurn = itemsPerTurn.first
  #later: (() => void)[] = []
  #isScheduled = false
  #entered: Promise<void> | null = null
  #leaveGate: (() => void) | null = null
  #hasEnded = false
  readonly #gate: ReadGate
  readonly #caller: string
  #refuse: (error: unknown) => void = () => {}
  /** Rejects when the answer exceeds a bound. */
  readonly refused: Promise<never>

  constructor(gate: ReadGate, caller: string) {
    this.#gate = gate
    this.#caller = caller
    this.refused = new Promise((_, reject) => {
      this.#refuse = reject
    })
    // After the answer is made, nobody awaits it.
    this.refused.catch(() => {})
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Approximate size as JSON, exact enough to tell small answers from large ones. */
  get byteCount(): number {
    return this.#byteCount
  }

  spendField(name: string): void {
    this.#fieldCount += 1
    this.#sinceTurn += 1
    if (this.#fieldCount > limits.graphqlMaxFields)
      this.refuse(tooMuch('graphqlMaxFields', 'fields', this.#fieldCount))
    this.#spendBytes(name.length + punctuationBytes)
  }

  /** Counts reads of single things from the catalog, and listed items. */
  spendReads(count: number): void {
    this.#readCount += count
    if (this.#readCount > limits.graphqlMaxReads)
      throw this.refuse(tooMuch('graphqlMaxReads', 'reads of single fields and entities', this.#readCount))
  }

  /**
   * Counts a resolved value. The items of a long list become promises, which are fulfilled part by part. A list that
   * makes the answer a large one waits for its turn before it has promises: each item has five, and those of lists
   * that wait would be copied by every collection of garbage, while nobody is served.
   */
  take(value: unknown, isList: boolean): unknown {
    if (typeof value === 'string') this.#spendBytes(value.length)
    else if (isList && Array.isArray(value))
      return typeof value[0] === 'object' && this.#isLargeWith(value.length)
        ? this.#enterGate().then(() => (this.#hasEnded ? unanswered() : this.#takeList(value)))
        : this.#takeList(value)
    return value
  }

  /** A listed object has two fields or more. */
  #isLargeWith(itemCount: number): boolean {
    return this.#leaveGate === null && this.#fieldCount + 2 * itemCount >= largeFieldCount
  }

  /** An answer enters once, however many long lists it has: the second would wait for the first. */
  #enterGate(): Promise<void> {
    this.#entered ??= this.#gate.enter(this.#caller).then(
      (leave) => {
        if (this.#hasEnded) leave()
        else this.#leaveGate = leave
      },
      (error: unknown) => {
        this.refuse(error)
      }
    )
    return this.#entered
  }

  /** Call it when the answer is made, or nobody waits for it. */
  end(): void {
    this.#hasEnded = true
    this.#later = []
    this.#leaveGate?.()
    this.#leaveGate = null
  }

  #takeList(items: readonly unknown[]): unknown {
    this.#sinceTurn += items.length
    for (const item of items)
      this.#spendBytes(typeof item === 'string' ? item.length + punctuationBytes : punctuationBytes)
    if (this.#sinceTurn < fieldsPerTurn / 4 && this.#later.length === 0) return items
    // Texts and numbers need only one turn.
    if (typeof items[0] !== 'object') return items
    return items.map(
      (item) =>
        new Promise((resolve) => {
          this.#later.push(() => {
            resolve(item)
          })
          this.#schedule()
        })
    )
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    inTurn(() => {
      void this.#handOver()
    })
  }

  async #handOver(): Promise<void> {
    // Several lists that are short by themselves.
    if (this.#isLargeWith(this.#later.length) && !this.#hasEnded) await this.#enterGate()
    this.#isScheduled = false
    const share = fieldsPerTurn / Math.max(1, this.#sinceTurn)
    this.#perTurn = Math.max(1, Math.min(itemsPerTurn.most, Math.floor(this.#perTurn * Math.min(2, share))))
    this.#sinceTurn = 0
    // The last part is handed over first, so everything within an item is resolved before the next item, and
    // few promises wait at a time.
    for (const handOver of this.#later.splice(-this.#perTurn)) handOver()
    if (this.#later.length > 0) this.#schedule()
  }

  #spendBytes(count: number): void {
    this.#byteCount += count
    if (this.#byteCount > limits.graphqlAnswerMaxBytes)
      this.refuse(tooMuch('graphqlAnswerMaxBytes', 'bytes', this.#byteCount))
  }

  /** The answer will be only this error. */
  refuse<Reason>(error: Reason): Reason {
    if (!this.#hasEnded) this.#refuse(error)
    this.end()
    return error
  }
}

/** `actual` is the cost so far: the whole answer would cost more. */
function tooMuch(limit: LimitName, what: string, actual: number): CatalogError {
  const maximum = limits[limit]
  metrics.readsRefused.inc({ code: 'QUERY_TOO_COMPLEX' })
  return new CatalogError(
    'QUERY_TOO_COMPLEX',
    `the answer would take more than ${maximum} ${what}; ask for fewer results, or for fewer fields of each`,
    { limit, maximum, actual }
  )
}

/** One part of one answer in each turn of the event loop, however many answers are waiting. */
const waiting: (() => void)[] = []
function inTurn(work: () => void): void {
  waiting.push(work)
  if (waiting.length === 1) setImmediate(nextTurn)
}

function nextTurn(): void {
  const work = waiting.shift()
  if (waiting.length > 0) setImmediate(nextTurn)
  work?.()
}

type Budgeted = { budget?: AnswerBudget }
/** Introspection types are the same objects in every schema, so they may have been wrapped already. */
const counted = new WeakSet<GraphQLField<unknown, unknown>>()

/**
 * Wraps every field of the schema, including introspection, so that it counts against the budget in the
 * context.
 */
export function countFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (!counted.has(field)) countField(field)
      counted.add(field)
    }
  }
}

function countField(field: GraphQLField<unknown, Budgeted>): void {
  const resolve = field.resolve ?? defaultFieldResolver
  const isList = isListType(getNullableType(field.type))
  field.resolve = (source, args, context, info) => {
    const { budget } = context
    if (!budget) return resolve(source, args, context, info)
    if (budget.hasEnded) return unanswered()
    budget.spendField(String(info.path.key))
    const found = resolve(source, args, context, info)
    return found instanceof Promise
      ? found.then((value) => budget.take(value, isList))
      : budget.take(found, isList)
  }
}
