/** Applies the domain rules to assets that already exist. This is a load: it can be followed and undone. */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { Actor } from '../../model/changes.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { ruledAssets, type RuledAsset } from '../domains/read-domain-rules.ts'
import { readLoad, type LoadView } from './read-load.ts'
import { receiveLoad } from './receive-load.ts'

/** The source of a load that applies domain rules. */
const source = 'domain-rules'

/**
 * Returns the load, or null when no asset needs a domain: then there is no load. An asset that is put into a
 * domain, or taken out of one, before the load reaches it is left as it is. Throws what receiveLoad throws.
 */
export async function applyDomainRulesNow(
  db: Db,
  queue: ChunkQueue,
  call: { actor: Actor; requestId: string | null }
): Promise<LoadView | null> {
  const id = await inTransaction(
    db,
    async (tx) => {
      const slices = filledSlices(tx)
      const first = await slices.next()
      if (first.done) return null
      const { id } = await receiveLoad(
        db,
        queue,
        { ...call, format: 'ndjson', source, missingReferences: 'reject' },
        asBody(first.value, slices)
      )
      return id
    },
    { readOnly: true, isolation: 'repeatable read' }
  )
  return id === null ? null : readLoad(db, call.actor, id)
}

async function* filledSlices(tx: Tx): AsyncGenerator<RuledAsset[]> {
  for await (const assets of ruledAssets(tx)) if (assets.length > 0) yield assets
}

async function* asBody(first: RuledAsset[], others: AsyncGenerator<RuledAsset[]>): AsyncGenerator<Buffer> {
  yield linesOf(first)
  for await (const assets of others) yield linesOf(assets)
}

const linesOf = (assets: readonly RuledAsset[]): Buffer =>
  Buffer.from(
    assets
      .map(
        ({ entityUrn, domainUrn }) =>
          `${JSON.stringify({ op: 'setDomain', entityUrn, domainUrn, onlyIfNone: true })}\n`
      )
      .join('')
  )
