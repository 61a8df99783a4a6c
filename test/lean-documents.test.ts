/** The lean way of applying lineage documents does what the general way does, and takes only what it can be sure of. */
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import {
  packLines,
  toStoredLine,
  unpackDocumentsOnly,
  unpackLines
} from '../shared/catalog/loads/chunk-payload.ts'
import { UnreadableChunk } from '../shared/catalog/write/urns-of-ids.ts'
import {
  createDocumentGatherer,
  packDocuments,
  type DocumentBatch
} from '../shared/catalog/write/document-payload.ts'
import { idsOf } from '../shared/catalog/write/edge-payload.ts'
import { allGuards, type Guards } from '../shared/catalog/write/guards.ts'
import { createLeanWays } from '../shared/catalog/write/lean-ways.ts'
import type { Db, Tx } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { parseMcpRecord } from '../shared/formats/mcp.ts'
import { parseNdjsonRecord } from '../shared/formats/ndjson.ts'
import { readPlainDocument, type PlainDocument } from '../shared/formats/plain-documents.ts'
import type { Change, JsonObject, JsonValue } from '../shared/model/changes.ts'
import { splitLineageDocument } from '../shared/model/lineage-document.ts'
import { UrnPacker } from '../shared/urn/packed-urns.ts'
import {
  apply,
  asCall,
  chunkContext,
  create,
  dataset,
  hardDelete,
  openLoad,
  record,
  removeEdge,
  valueOf,
  without,
  type OpenLoad
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { anyDocumentLoad } from './support/edge-catalogs.ts'
import { casesOf, fc } from './support/fast-check.ts'
import { endedOrBlocked, pausedBefore } from './support/paused-tx.ts'
import { compareWays } from './support/two-ways.ts'

function gathered(documents: readonly PlainDocument[]): DocumentBatch {
  const gatherer = createDocumentGatherer()
  for (const document of documents) gatherer.add(document)
  return gatherer.take().batch
}

const packed = (lines: readonly string[], firstLine: number): Promise<Buffer> =>
  packLines(lines.map((text, at) => toStoredLine({ line: firstLine + at, text })))

/** Null where there is something else among them. */
function inColumns(lines: readonly string[], firstLine: number): DocumentBatch | null {
  const documents = lines.flatMap((text, at) => readPlainDocument(text, firstLine + at) ?? [])
  return documents.length === lines.length ? gathered(documents) : null
}

async function packedInColumns(lines: readonly string[], firstLine: number): Promise<Buffer> {
  const batch = inColumns(lines, firstLine)
  return batch ? packDocuments(batch, await packed(lines, firstLine)) : packed(lines, firstLine)
}

let idsCount = 0

/** As a process stores them that knows every second dataset: those that were deleted and those that are only referred to are among them. */
async function packedByIds(lines: readonly string[], firstLine: number, db: Db): Promise<Buffer> {
  const batch = inColumns(lines, firstLine)
  if (!batch) return packed(lines, firstLine)
  const idOf = new Map(
    (
      await query<{ id: number; urn: string }>(db, "select id, urn from entity where entity_type = 'dataset'")
    ).map(({ id, urn }) => [urn, id])
  )
  const numbered = (ends: Int32Array): Int32Array =>
    ends.map((end, at) =>
      at % 2 === 0 && idOf.has(batch.urns.at(end)) ? -(idOf.get(batch.urns.at(end)) ?? 0) : end
    )
  const packer = new UrnPacker()
  const placed = (ends: Int32Array): Int32Array =>
    ends.map((end) => (end < 0 ? end : packer.placeOf(batch.urns.at(end))))
  const [owners, upstreams] = [placed(numbered(batch.owners)), placed(numbered(batch.upstreams))]
  idsCount += idsOf(owners, upstreams).length
  return packDocuments({ ...batch, owners, upstreams, urns: packer.packed() }, await packed(lines, firstLine))
}

t.test('whatever the catalog is, what is left behind is the same', async (t) => {
  const { db } = await withDatabase(t)
  await query(db, 'alter table chunk alter column id restart with 1000000')
  let changedCount = 0
  await fc.assert(
    fc.asyncProperty(
      anyDocumentLoad,
      fc.constantFrom(packed, packedInColumns, packedByIds),
      async (load, pack) => {
        const { differences, hasChanged } = await compareWays(db, load, pack)
        if (differences.length > 0) throw new Error(differences.join('\n'))
        if (hasChanged) changedCount += 1
      }
    ),
    { numRuns: casesOf(60), interruptAfterTimeLimit: 240_000 }
  )
  t.ok(changedCount > 10, 'loads that change something are among them')
  t.ok(idsCount > 10, 'and documents that name datasets by ids')
})

const plain: JsonObject = {
  entityType: 'dataset',
  entityUrn: dataset('a'),
  changeType: 'UPSERT',
  aspectName: 'upstreamLineage'
}
const upstreams: JsonValue = [{ dataset: dataset('b'), type: 'TRANSFORMED' }]
const withDocument = (document: JsonValue, more: JsonObject = {}): JsonObject => ({
  ...plain,
  aspect: { value: JSON.stringify(document), contentType: 'application/json' },
  ...more
})

/** Proposals near to plain ones: what is strange about them is at one place or two. */
const oddities: readonly ((proposal: JsonObject, document: JsonObject) => void)[] = [
  (proposal) => {
    proposal.entityType = 'dataJob'
  },
  (proposal) => {
    proposal.entityUrn = 'urn:li:dataset:nothing'
  },
  (proposal) => {
    proposal.entityUrn = 'urn:li:dataset:(urn:li:dataPlatform:hive,f(x,PROD)'
  },
  (proposal) => {
    proposal.changeType = 'CREATE'
  },
  (proposal) => {
    proposal.changeType = 'PATCH'
  },
  (proposal) => {
    proposal.headers = { 'If-Version-Match': '3' }
  },
  (proposal) => {
    proposal.headers = null
  },
  (proposal) => {
    proposal.op = 'addEdge'
  },
  (proposal) => {
    proposal.unknown = 1
  },
  (proposal) => {
    proposal.systemMetadata = { lastObserved: 3, properties: { clientId: 'x' } }
  },
  (proposal) => {
    proposal.systemMetadata = '{"lastObserved":3}'
  },
  (proposal) => {
    proposal.systemMetadata = { runId: '\u0000' }
  },
  (proposal) => {
    proposal.systemMetadata = []
  },
  (_, document) => {
    document.upstreams = []
  },
  (_, document) => {
    document.upstreams = null
  },
  (_, document) => {
    document.fineGrainedLineages = []
  },
  (_, document) => {
    document.upstreams = [dataset('b')]
  },
  (_, document) => {
    document.upstreams = [{ dataset: dataset('b') }]
  },
  (_, document) => {
    document.upstreams = [
      { dataset: dataset('b'), type: 'VIEW', auditStamp: { time: 12, actor: 'urn:li:corpuser:etl' } }
    ]
  },
  (_, document) => {
    document.upstreams = [
      { dataset: dataset('b'), type: 'VIEW', auditStamp: { time: 1.5, actor: 'urn:li:corpuser:etl' } }
    ]
  },
  (_, document) => {
    document.upstreams = [{ dataset: dataset('b'), type: 'VIEW', auditStamp: { time: 12 } }]
  },
  (_, document) => {
    document.upstreams = [{ dataset: dataset('b'), type: 'VIEW', properties: { a: 'b' } }]
  },
  (_, document) => {
    document.upstreams = [{ dataset: 'urn:li:chart:(looker,1)', type: 'VIEW' }]
  },
  (_, document) => {
    document.upstreams = [{ dataset: dataset('b'), type: 'SOMETHING' }]
  },
  (_, document) => {
    document.upstreams = [
      { dataset: dataset('b'), type: 'COPY' },
      { dataset: dataset('b'), type: 'TRANSFORMED' },
      { dataset: dataset('a'), type: 'TRANSFORMED' }
    ]
  }
]

const anyProposal = fc.array(fc.constantFrom(...oddities), { maxLength: 2 }).map((odd) => {
  const proposal: JsonObject = { ...plain }
  const document: JsonObject = { upstreams }
  for (const make of odd) make(proposal, document)
  return JSON.stringify({
    ...proposal,
    aspect: { value: JSON.stringify(document), contentType: 'application/json' }
  })
})

t.test('what is read at a glance is what a full reading finds', (t) => {
  let plainCount = 0
  fc.assert(
    fc.property(anyProposal, (text) => {
      const document = readPlainDocument(text, 7)
      if (!document) return
      plainCount += 1
      for (const parse of [parseNdjsonRecord, parseMcpRecord]) {
        const [change, ...others] = parse(text, 7).changes
        if (change?.kind !== 'upsertAspect' || others.length > 0) throw new Error('no UPSERT')
        const { rest, entries } = splitLineageDocument(change.entityUrn, change.aspectName, change.value)
        const full = {
          ownerUrn: change.entityUrn,
          changeType: change.changeType,
          aspectName: change.aspectName,
          rest,
          upstreams: entries.map((entry) => entry.upstreamUrn),
          attributes: entries.map((entry) => entry.attributes),
          systemMetadata: change.headers?.systemMetadata ?? null,
          version: change.headers?.ifVersionMatch
        }
        const glance = {
          ownerUrn: document.ownerUrn,
          changeType: 'UPSERT',
          aspectName: 'upstreamLineage',
          rest: { upstreams: [] },
          upstreams: document.upstreamUrns,
          attributes: document.attributes,
          systemMetadata: document.systemMetadata,
          version: undefined
        }
        if (!isDeepStrictEqual(full, glance))
          throw new Error(`${JSON.stringify(full)} is not ${JSON.stringify(glance)}`)
      }
    }),
    { numRuns: 2_000 }
  )
  t.ok(plainCount > 100, 'plain documents are among them')
  t.end()
})

t.test('what emitters send is read at a glance', (t) => {
  const sent = [
    withDocument({ upstreams }),
    withDocument(
      { upstreams },
      {
        systemMetadata: {
          lastObserved: 1_700_000_000_000,
          runId: 'no-run-id-provided',
          properties: { clientId: 'acryl-datahub', clientVersion: '1.7.0' }
        }
      }
    ),
    withDocument(
      {
        upstreams: [
          {
            auditStamp: { time: 0, actor: 'urn:li:corpuser:unknown' },
            dataset: dataset('b'),
            type: 'TRANSFORMED'
          }
        ]
      },
      { auditHeader: null, headers: null, entityKeyAspect: null }
    )
  ]
  for (const proposal of sent) t.ok(readPlainDocument(JSON.stringify(proposal), 1))
  t.end()
})

const { documents: applyDocuments } = createLeanWays()
const [a, b] = [dataset('a'), dataset('b')]

/** Applies the document that derives a from b; what the lean way leaves is applied with all rules. */
async function applyDocument(tx: Tx, load: OpenLoad, guards: Guards): Promise<void> {
  const text = JSON.stringify(withDocument({ upstreams }))
  const document = readPlainDocument(text, 1)
  if (!document) throw new Error('no plain document')
  const context = chunkContext(load)
  const { rest, ...before } = await applyDocuments(tx, gathered([document]), { ...context, guards })
  if (rest.length > 0) await applyRecords(tx, [parseNdjsonRecord(text, 1)], { ...context, before })
}

const upstreamsOf = async (db: Db): Promise<JsonValue> => {
  const value = (await valueOf(db, a, 'upstreamLineage')) as { upstreams: { dataset: string }[] } | null
  return (value?.upstreams ?? []).map((entry) => entry.dataset)
}
const call = (db: Db, change: Change): Promise<unknown> =>
  db.transaction((tx: Tx) => applyRecords(tx, [record(0, change)], asCall()))

async function race(db: Db, guards: Guards, change: Change): Promise<void> {
  const load = await openLoad(db)
  const lean = pausedBefore(db, /insert into aspect/, (tx) => applyDocument(tx, load, guards))
  await lean.reached
  const late = call(db, change)
  await endedOrBlocked(db, late)
  lean.goOn()
  await lean.done
  await late
}

async function bothWays(
  t: Test,
  name: keyof Guards,
  play: (db: Db, guards: Guards) => Promise<JsonValue>,
  right: JsonValue,
  wrong: JsonValue
): Promise<void> {
  for (const [guards, expected, says] of [
    [allGuards, right, 'with all rules'],
    [without(name), wrong, `without ${name} it would be wrong`]
  ] as const) {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a, b))
    t.same(await play(db, guards), expected, says)
  }
}

t.test('each rule is needed for documents too', async (t) => {
  await bothWays(
    t,
    'keepsOrder',
    async (db, guards) => {
      const older = await openLoad(db)
      await call(db, removeEdge(b, a))
      await db.transaction((tx: Tx) => applyDocument(tx, older, guards))
      return upstreamsOf(db)
    },
    [],
    [b]
  )
  await bothWays(
    t,
    'locksOwners',
    async (db, guards) => {
      await race(db, guards, removeEdge(b, a))
      return upstreamsOf(db)
    },
    [],
    [b]
  )
  await bothWays(
    t,
    'excludesDeletes',
    async (db, guards) => {
      await race(db, guards, hardDelete(b))
      return query<{ urn: string }>(
        db,
        'select distinct entity.urn from statement join entity on entity.id = upstream_id where not is_present'
      )
    },
    [],
    [{ urn: b }]
  )
})

t.test('an older edge that comes after a document does not stand beside it', async (t) => {
  const { db } = await withDatabase(t)
  const other = dataset('c')
  await apply(db, ...create(a, b, other))
  const [older, newer] = [await openLoad(db), await openLoad(db)]
  await db.transaction((tx: Tx) => applyDocument(tx, newer, allGuards))
  await db.transaction((tx: Tx) =>
    applyRecords(
      tx,
      [record(1, { kind: 'addEdge', upstreamUrn: other, downstreamUrn: a })],
      chunkContext(older)
    )
  )
  t.same(await upstreamsOf(db), [b])
})

t.test(
  'a chunk of documents gives back what they say and how they were sent, or is unreadable',
  async (t) => {
    const texts = [
      withDocument({ upstreams }, { systemMetadata: { runId: 'a' } }),
      withDocument({
        upstreams: [
          { dataset: dataset('c'), type: 'COPY' },
          { dataset: dataset('b'), type: 'TRANSFORMED' }
        ]
      }),
      withDocument({ upstreams }, { systemMetadata: { runId: 'a' } })
    ].map((each) => JSON.stringify(each))
    const batch = inColumns(texts, 5)
    if (!batch) throw new Error('not plain')
    const payload = await packDocuments(batch, await packed(texts, 5))
    t.same(await unpackDocumentsOnly(payload), batch)
    t.same(
      [batch.counts, batch.metadata, batch.texts.length],
      [Int32Array.of(1, 2, 1), Int32Array.of(1, 0, 1), 2],
      'what is said twice is stored once'
    )
    t.same(
      await unpackLines(payload),
      texts.map((text, at) => ({ line: 5 + at, text }))
    )
    for (const wrong of [
      { owners: Int32Array.of(9, 0, 0) },
      { upstreams: Int32Array.of(0, 1, 2, -(2 ** 31)) },
      { counts: Int32Array.of(1, 2, 2) },
      { counts: Int32Array.of(2, -1, 3) },
      { metadata: Int32Array.of(3, 0, 0) },
      { attributes: Int32Array.of(0, 0, -1, 0) },
      { lines: Int32Array.of(5, 6) }
    ]) {
      await t.rejects(
        packDocuments({ ...batch, ...wrong }, await packed(texts, 5)).then(unpackDocumentsOnly),
        UnreadableChunk,
        Object.keys(wrong).join()
      )
    }
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: payload.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (at, by, isCut) => {
          const damaged = Buffer.from(payload.subarray(0, isCut ? at : undefined))
          if (!isCut) damaged[at] = (damaged[at] ?? 0) ^ by
          for (const read of [unpackDocumentsOnly, unpackLines])
            await read(damaged).catch((error: unknown) => {
              if (!(error instanceof UnreadableChunk)) throw error
            })
        }
      ),
      { numRuns: 300 }
    )
  }
)
