/**
 * The ways to send a write: over HTTP to an API process, or by the catalog's functions in transactions that
 * wait before they commit.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { applyCall } from '../../shared/catalog/write/apply-call.ts'
import { mutationContext, type Call } from '../../shared/catalog/write/call.ts'
import { moveDomain } from '../../shared/catalog/write/create-domain.ts'
import { ingestProposal } from '../../shared/catalog/write/ingest-proposals.ts'
import { setDomain, unsetDomain } from '../../shared/catalog/write/set-domain.ts'
import { updateLineage } from '../../shared/catalog/write/update-lineage.ts'
import type { Db, Tx } from '../../shared/db/database.ts'
import { CatalogError } from '../../shared/errors.ts'
import type { Change, JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { toUrn } from '../../shared/urn/urn.ts'
import { valueAt } from '../support/json-answer.ts'
import type { Api } from './catalog-calls.ts'
import type { Outcome } from './freshness-history.ts'
import type { Request } from './freshness-workload.ts'
import type { Edge, Random } from './workload.ts'

export type Door = (request: Request) => Promise<Outcome>

const requestMaxMs = 20_000
const loadMaxMs = 60_000

const mutations = {
  updateLineage:
    'mutation ($edgesToAdd: [LineageEdge!], $edgesToRemove: [LineageEdge!]) { updateLineage(input: { edgesToAdd: $edgesToAdd, edgesToRemove: $edgesToRemove }) }',
  setDomain:
    'mutation ($entityUrn: String!, $domainUrn: String!) { setDomain(entityUrn: $entityUrn, domainUrn: $domainUrn) }',
  unsetDomain: 'mutation ($entityUrn: String!) { unsetDomain(entityUrn: $entityUrn) }',
  moveDomain:
    'mutation ($resourceUrn: String!, $parentDomain: String) { moveDomain(input: { resourceUrn: $resourceUrn, parentDomain: $parentDomain }) }',
  load: 'mutation ($input: SubmitChangesInput!) { submitChanges(input: $input) { id } }'
}

type Answer = { status: number; json: JsonValue }

/** Null if no complete answer came. */
async function send(api: Api, path: string, body: JsonObject): Promise<Answer | null> {
  try {
    const answer = await fetch(`${api.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(requestMaxMs)
    })
    return { status: answer.status, json: (await answer.json()) as JsonValue }
  } catch {
    return null
  }
}

export const askGraphql = (api: Api, query: string, variables: JsonObject): Promise<Answer | null> =>
  send(api, '/api/graphql', { query, variables })

/** The codes of the errors of an answer. */
export const reasonsOf = (json: JsonValue): string[] => {
  const errors = valueAt(json, 'errors')
  return (Array.isArray(errors) ? errors : []).map((error) => String(valueAt(error, 'extensions.reason')))
}

/** After a refusal nothing has changed, for certain; after any other error the result is unknown. */
const refusals = new Set([
  'MISSING_REFERENCE',
  'NOT_FOUND',
  'CONFLICT',
  'BAD_REQUEST',
  'PRECONDITION_FAILED',
  'VALIDATION_FAILED'
])

function outcomeOf(answer: Answer | null): Outcome {
  if (answer === null) return 'unknown'
  const reasons = reasonsOf(answer.json)
  const code = valueAt(answer.json, 'code')
  if (answer.status === 200 && reasons.length === 0) return 'acknowledged'
  return [...reasons, ...(typeof code === 'string' ? [code] : [])].some((reason) => refusals.has(reason))
    ? 'refused'
    : 'unknown'
}

/** A write over HTTP. Its answer acknowledges it, or, for a load, the end of the load. */
export const apiDoor =
  (api: Api): Door =>
  async (request) => {
    if (request.kind === 'proposal')
      return outcomeOf(await send(api, '/aspects?action=ingestProposal', { proposal: request.proposal }))
    if (request.kind === 'load') {
      const { edge, op } = request
      const accepted = await askGraphql(api, mutations.load, {
        input: { source: 'etl', [op === 'addEdge' ? 'edgesToAdd' : 'edgesToRemove']: [edge] }
      })
      const outcome = outcomeOf(accepted)
      return outcome === 'acknowledged'
        ? endOfLoad(api, String(valueAt(accepted?.json, 'data.submitChanges.id')))
        : outcome
    }
    const { kind, ...variables } = request
    return outcomeOf(await askGraphql(api, mutations[kind], variables))
  }

async function endOfLoad(api: Api, id: string): Promise<Outcome> {
  for (const end = Date.now() + loadMaxMs; Date.now() < end; await sleep(10)) {
    const answer = await askGraphql(
      api,
      'query ($id: String!) { load(id: $id) { state counts { rejected } } }',
      { id }
    )
    const load = valueAt(answer?.json, 'data.load')
    if (valueAt(load, 'state') === 'done')
      return valueAt(load, 'counts.rejected') === 0 ? 'acknowledged' : 'refused'
  }
  return 'unknown'
}

/** The pool, with transactions that wait for a random time between their last statement and their commit. */
export const dawdling = (db: Db, random: Random, maxMs: number): Db =>
  new Proxy(db, {
    get(target, name, receiver) {
      if (name !== 'transaction') return Reflect.get(target, name, receiver) as unknown
      return (work: (tx: Tx) => Promise<unknown>, options: object) =>
        target.transaction(async (tx: Tx) => {
          const result = await work(tx)
          await sleep(random() * maxMs)
          return result
        }, options)
    }
  })

const call: Call = {
  actor: { urn: toUrn('urn:li:corpuser:torture'), tokenId: null, scopes: ['admin'], domainUrns: null },
  requestId: null
}

/**
 * A write by the catalog's functions. Half of the edges that people would state are stated by a source
 * instead.
 */
export const catalogDoor =
  (db: Db, random: Random): Door =>
  async (request) => {
    try {
      await applyRequest(db, request, random() < 0.5 ? 'etl' : 'manual')
      return 'acknowledged'
    } catch (error) {
      return error instanceof CatalogError && refusals.has(error.code) ? 'refused' : 'unknown'
    }
  }

const changesOf = ({
  edgesToAdd,
  edgesToRemove
}: {
  edgesToAdd: Edge[]
  edgesToRemove: Edge[]
}): Change[] => {
  const change =
    (kind: 'addEdge' | 'removeEdge') =>
    ({ upstreamUrn, downstreamUrn }: Edge): Change => ({
      kind,
      upstreamUrn: toUrn(upstreamUrn),
      downstreamUrn: toUrn(downstreamUrn)
    })
  return [...edgesToAdd.map(change('addEdge')), ...edgesToRemove.map(change('removeEdge'))]
}

async function applyRequest(db: Db, request: Request, source: string): Promise<void> {
  switch (request.kind) {
    case 'updateLineage':
      if (source === 'manual') await updateLineage(db, request, call)
      else
        await applyCall(db, [{ line: 0, changes: changesOf(request) }], {
          ...mutationContext(call, 'torture'),
          source
        })
      return
    case 'load':
      return applyRequest(
        db,
        {
          kind: 'updateLineage',
          edgesToAdd: request.op === 'addEdge' ? [request.edge] : [],
          edgesToRemove: request.op === 'addEdge' ? [] : [request.edge]
        },
        source
      )
    case 'setDomain':
      await setDomain(db, request, call)
      return
    case 'unsetDomain':
      await unsetDomain(db, request, call)
      return
    case 'moveDomain':
      await moveDomain(db, request, call)
      return
    case 'proposal':
      await ingestProposal(db, request.proposal, {
        ...call,
        missingReferences: 'reject',
        upsertReplaces: 'aspect'
      })
  }
}
