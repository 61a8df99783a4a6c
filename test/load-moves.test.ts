/** The states of a load: the database allows exactly the moves in the table of moves. */
import t from 'tap'
import type { Tx } from '../shared/db/database.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { loadMoves, loadStates, terminalStates } from '../shared/model/load-moves.ts'
import { finishLoad } from '../shared/store/load-progress.ts'
import {
  abortLoad,
  acceptLoad,
  insertLoad,
  reopenLoad,
  resumeLoad,
  startLoad,
  stopLoad
} from '../shared/store/loads.ts'
import { withLoadBench, type LoadBench } from './support/load-bench.ts'

const id = '00000000-0000-4000-8000-000000000001'

/** All functions in shared/store that change the state of a load. */
const movers: { [name: string]: (tx: Tx) => Promise<unknown> } = {
  acceptLoad: (tx) => acceptLoad(tx, id),
  startLoad: (tx) => startLoad(tx, id),
  finishLoad: (tx) => finishLoad(tx, id),
  abortLoad: (tx) => abortLoad(tx, id, 'gone'),
  fail: (tx) => stopLoad(tx, id, 'failed', 'why'),
  cancel: (tx) => stopLoad(tx, id, 'cancelled', 'why'),
  resumeLoad: (tx) => resumeLoad(tx, id),
  reopenLoad: (tx) => reopenLoad(tx, id)
}

async function put(
  bench: LoadBench,
  state: string,
  { hasWholeBody, hasChunk }: { hasWholeBody: boolean; hasChunk: boolean }
): Promise<void> {
  await bench.rows('delete from load')
  await inTransaction(bench.db, (tx) =>
    insertLoad(tx, {
      id,
      format: 'ndjson',
      mode: 'merge',
      source: 's',
      missingReferences: 'reject',
      actor: 'a',
      tokenId: null,
      scopes: [],
      domainUrns: null,
      requestId: null,
      isAtomic: false,
      isDryRun: false,
      idempotencyKey: null,
      header: null
    })
  )
  await bench.rows('update load set state = ?, body_ended_at = case when ? then now() end', [
    state,
    hasWholeBody
  ])
  if (hasChunk)
    await bench.rows(
      "insert into chunk (load_id, pass, first_line, record_count, payload) values (?::uuid, 3, 1, 1, '')",
      [id]
    )
}

t.test('the life of a load', async (t) => {
  const bench = await withLoadBench(t)

  t.test('has the states that the table allows', async (t) => {
    const [check] = await bench.rows<{ text: string }>(
      "select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'load_state_check'"
    )
    t.strictSame(
      Array.from(check?.text.matchAll(/'(\w+)'/g) ?? [], ([, state = '']) => state).sort(),
      loadStates.toSorted()
    )
    const moving = new Set<string>(loadMoves.flatMap(({ from, to }) => [from ?? to, to]))
    t.strictSame([...moving].sort(), loadStates.toSorted(), 'every state has a move')
  })

  t.test('has the moves of the table: each can be made, and no other', async (t) => {
    const seen = new Set(['- receiving'])
    for (const state of loadStates) {
      for (const situation of [
        { hasWholeBody: true, hasChunk: true },
        { hasWholeBody: true, hasChunk: false },
        { hasWholeBody: false, hasChunk: false }
      ]) {
        for (const [name, move] of Object.entries(movers)) {
          await put(bench, state, situation)
          await inTransaction(bench.db, move)
          const [after] = await bench.rows<{ state: string }>('select state from load')
          if (after?.state !== state) seen.add(`${state} ${after?.state}`)
          else t.pass(`${name} leaves ${state} alone`)
        }
      }
    }
    t.strictSame([...seen].sort(), loadMoves.map(({ from, to }) => `${from ?? '-'} ${to}`).sort())
  })

  t.test('ends by itself if it cannot continue by itself', async (t) => {
    const byItself = loadMoves.filter(({ who }) => who !== 'client').flatMap(({ from }) => from ?? [])
    t.strictSame(terminalStates.toSorted(), loadStates.filter((state) => !byItself.includes(state)).sort())
  })
})
