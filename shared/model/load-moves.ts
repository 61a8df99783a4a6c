/**
 * The states of a load and every move between them. Code that changes the state of a load uses this table;
 * docs/architecture.md shows it.
 */

export const loadStates = [
  'receiving',
  'accepted',
  'applying',
  'done',
  'failed',
  'aborted',
  'cancelled'
] as const

export type LoadState = (typeof loadStates)[number]

/** `from` is null for a new load. The diagram shows `cause`; the table shows `who` and `when`. */
type LoadMove = { from: LoadState | null; to: LoadState; cause: string; who: string; when: string }

const cancels = (from: LoadState): LoadMove => ({
  from,
  to: 'cancelled',
  cause: 'cancel',
  who: 'client',
  when: '`POST /loads/{id}/cancel`; what is applied stays, and the counts of the load say how much'
})

export const loadMoves: readonly LoadMove[] = [
  {
    from: null,
    to: 'receiving',
    cause: 'the first record arrives',
    who: 'API',
    when: 'the first record of a body has been read'
  },
  {
    from: 'receiving',
    to: 'accepted',
    cause: 'clean end of the body',
    who: 'API; a sweeper if that process died',
    when: 'the whole body has arrived and is committed; the load takes its seq'
  },
  {
    from: 'receiving',
    to: 'done',
    cause: 'clean end, nothing to apply',
    who: 'API; a sweeper',
    when: 'the whole body has arrived, but every record was rejected while it was read'
  },
  {
    from: 'receiving',
    to: 'aborted',
    cause: 'the upload is interrupted',
    who: 'API; a sweeper after 60 s without a sign of life; the API when the same key is sent again',
    when: 'the client disconnected, or a limit was exceeded; its chunks are deleted, and its key is free'
  },
  {
    from: 'accepted',
    to: 'applying',
    cause: 'a chunk is claimed',
    who: 'worker',
    when: 'it claims the first chunk'
  },
  {
    from: 'applying',
    to: 'done',
    cause: 'the last chunk settles',
    who: 'worker',
    when: 'it settles the last chunk, with or without rejects'
  },
  {
    from: 'applying',
    to: 'failed',
    cause: 'it cannot be applied',
    who: 'worker',
    when: 'the stored records of a chunk cannot be read; a snapshot would remove too much; an atomic load has a reject, or fails or kills its worker three times'
  },
  {
    from: 'failed',
    to: 'applying',
    cause: 'retry',
    who: 'client',
    when: '`POST /loads/{id}/retry`, except for an atomic load or a dry run; the load keeps its seq'
  },
  {
    from: 'done',
    to: 'receiving',
    cause: 'retry of rejects',
    who: 'client',
    when: '`POST /loads/{id}/retry` of a load with rejects: they get a new seq and are accepted at once'
  },
  cancels('receiving'),
  cancels('accepted'),
  cancels('applying'),
  cancels('failed')
]

/** The states from which a load can move to the state `to`. */
export const statesBefore = (to: LoadState): LoadState[] =>
  loadMoves.flatMap((move) => (move.to === to ? (move.from ?? []) : []))

/** A load in one of these states changes only when a client requests it. */
export const terminalStates: readonly LoadState[] = ['done', 'failed', 'aborted', 'cancelled']
