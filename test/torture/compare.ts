/**
 * Compares the catalog after a torture with everything that was accepted, to find lost and repeated changes.
 */
import { query } from '../../shared/db/query.ts'
import { readRejects } from './catalog-calls.ts'
import { differences, edgeText, foldAccepted, type Accepted, type AcceptedChange } from './oracle.ts'
import type { Call, PressureStage, SentLoad } from './pressure.ts'
import { isAt, type Edge } from './workload.ts'

export type LoadRow = {
  id: string
  requestId: string
  state: string
  isWhole: boolean
  seq: number
  received: number
  applied: number
  unchanged: number
  rejected: number
}

/** The loads that were sent. A load whose body was complete is accepted, even if its client got no answer. */
export const readLoads = ({ db }: PressureStage, sent: readonly SentLoad[]): Promise<LoadRow[]> =>
  query<LoadRow>(
    db,
    `
  select id, request_id as "requestId", state, body_ended_at is not null as "isWhole", seq, received, applied, unchanged, rejected
  from load
  where request_id = any(?::text[])`,
    [sent.map(({ requestId }) => requestId)]
  )

/** The differences, as text; empty if there are none. */
export async function compare(
  stage: PressureStage,
  sent: readonly SentLoad[],
  calls: readonly Call[]
): Promise<string[]> {
  const loads = await judgeLoads(stage, sent)
  const made = await judgeCalls(stage, calls)
  const actual = await statedEdges(stage)
  const wrong = differences(foldAccepted([...loads.accepted, ...made.accepted]), actual)
  stage.log(
    `${actual.size} edges compared, ${loads.accepted.length} loads and ${made.accepted.length} calls accepted`
  )
  return [
    ...loads.faults,
    ...made.faults,
    ...(wrong.length > 0
      ? [`${wrong.length} edges differ from the fold, for example ${wrong.slice(0, 3).join('; ')}`]
      : []),
    ...(await judgeAudit(stage))
  ]
}

type Judged = { accepted: Accepted[]; faults: string[] }

async function judgeLoads(stage: PressureStage, sent: readonly SentLoad[]): Promise<Judged> {
  const rows = new Map((await readLoads(stage, sent)).map((row) => [row.requestId, row]))
  const judged: Judged = { accepted: [], faults: [] }
  for (const load of sent) {
    const row = rows.get(load.requestId)
    if (row?.isWhole && row.state === 'done') await judgeLoad(stage, load, row, judged)
    else if (row?.isWhole) judged.faults.push(`load ${row.id} ended ${row.state}`)
    else if (load.isAcknowledged)
      judged.faults.push(`an acknowledged load of ${load.plan.count} is lost: ${row?.state ?? 'unknown'}`)
  }
  return judged
}

async function judgeLoad(
  { api, workload }: PressureStage,
  { plan }: SentLoad,
  row: LoadRow,
  { accepted, faults }: Judged
): Promise<void> {
  const { received, applied, unchanged, rejected } = row
  if (received !== plan.count || applied + unchanged + rejected !== received)
    faults.push(`load ${row.id}: ${JSON.stringify(row)} does not add up to ${plan.count}`)
  const rejects = rejected > 0 ? await readRejects(api, row.id) : []
  if (rejects.length !== rejected) faults.push(`load ${row.id}: ${rejected} rejected, ${rejects.length} kept`)
  const isVictim = (edge: Edge) => workload.victims.some((urn) => isAt(edge, urn))
  const innocent = rejects.filter(({ line }) => !isVictim(plan.changeAt(line - 1).edge))
  if (innocent.length > 0)
    faults.push(
      `load ${row.id}: ${innocent.length} lines were rejected for nothing, for example ${JSON.stringify(innocent[0])}`
    )
  const refused = new Set(rejects.map(({ line }) => line))
  accepted.push({ seq: row.seq, changes: changesOf() })

  function* changesOf(): Generator<AcceptedChange> {
    for (let index = 0; index < plan.count; index += 1) {
      if (refused.has(index + 1)) continue
      const { op, edge } = plan.changeAt(index)
      yield op === 'add' ? { op, edge, source: plan.source } : { op, edge }
    }
  }
}

/**
 * A call counts if it is in the audit trail, because its answer may have been lost. An acknowledged call
 * must be there.
 */
async function judgeCalls({ db }: PressureStage, calls: readonly Call[]): Promise<Judged> {
  const audited = new Map(
    (
      await query<{ requestId: string; seq: number }>(
        db,
        'select request_id as "requestId", seq from audit where request_id is not null and chunk_id is null'
      )
    ).map((row) => [row.requestId, row.seq])
  )
  const lost = calls.filter(({ requestId, isAcknowledged }) => isAcknowledged && !audited.has(requestId))
  return {
    accepted: calls.flatMap((call): Accepted[] => {
      const seq = audited.get(call.requestId)
      return seq === undefined ? [] : [{ seq, changes: [changeOf(call)] }]
    }),
    faults:
      lost.length > 0
        ? [`${lost.length} acknowledged calls are lost, for example ${JSON.stringify(lost[0])}`]
        : []
  }
}

function changeOf(call: Call): AcceptedChange {
  if (call.op === 'add') return { op: 'add', edge: call.edge, source: 'manual' }
  return call.op === 'delete' ? { op: 'delete', urn: call.urn } : { op: 'remove', edge: call.edge }
}

async function statedEdges({ db }: PressureStage): Promise<Map<string, Set<string>>> {
  const stated = new Map<string, Set<string>>()
  for (const row of await query<Edge & { source: string }>(
    db,
    `
    select upstream.urn as "upstreamUrn", downstream.urn as "downstreamUrn", statement_source.name as source
    from statement
    join entity as upstream on upstream.id = statement.upstream_id
    join entity as downstream on downstream.id = statement.downstream_id
    join statement_source on statement_source.id = statement.source_id
    where statement_source.name <> 'openlineage'`
  )) {
    const key = edgeText(row)
    stated.set(key, (stated.get(key) ?? new Set()).add(row.source))
  }
  return stated
}

/** A settled chunk has one row in the audit trail, any other chunk none, and a call at most one. */
async function judgeAudit({ db }: PressureStage): Promise<string[]> {
  const [row] = await query<{ settled: number; unsettled: number; calls: number }>(
    db,
    `
    select
      (select count(*) from chunk where chunk.state = 'settled' and (select count(*) from audit where audit.chunk_id = chunk.id) <> 1) as settled,
      (select count(*) from chunk where chunk.state <> 'settled' and exists (select from audit where audit.chunk_id = chunk.id)) as unsettled,
      (select count(*) from (select 1 from audit where request_id is not null and chunk_id is null group by request_id having count(*) > 1) as twice) as calls`
  )
  return [
    ...(row?.settled ? [`${row.settled} settled chunks do not have exactly one audit row`] : []),
    ...(row?.unsettled ? [`${row.unsettled} chunks have an audit row and are not settled`] : []),
    ...(row?.calls ? [`${row.calls} calls have more than one audit row`] : [])
  ]
}
