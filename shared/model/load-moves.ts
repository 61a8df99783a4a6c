/** The life of a load: its states, and every move between them. What moves one asks here; docs/architecture.md shows it. */

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

/** `from` is null where a load begins. `cause` is what the picture says, `who` and `when` what the table says. */
export type LoadMove = { from: LoadState | null; to: LoadState; cause: string; who: string; when: string }

const cancels = (from: LoadState): LoadMove => ({
  from,
  to: 'cancelled',
  cause: 'cancel',
  who: 'client',
  when: '`POST /loads/{id}/cancel`; what has been applied stays, and the load says how much that is'
})

export const loadMoves: readonly LoadMove[] = [
  {
    from: null,
    to: 'receiving',
    cause: 'the first record comes',
    who: 'API',
    when: 'the first record of a body has been read'
  },
  {
    from: 'receiving',
    to: 'accepted',
    cause: 'clean end of the body',
    who: 'API; a sweeper when that process died',
    when: 'the body came to a clean end, which is committed first; the load draws its seq'
  },
  {
    from: 'receiving',
    to: 'done',
    cause: 'clean end, nothing to apply',
    who: 'API; a sweeper',
    when: 'the same, and every record was rejected while it was read'
  },
  {
    from: 'receiving',
    to: 'aborted',
    cause: 'the body breaks off',
    who: 'API; a sweeper after 60 s without a sign of life, or who sends it again',
    when: 'the client went away, or a limit was passed; its chunks are deleted, its key is free'
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
    when: 'it settles the last chunk; rejects or not'
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
    when: '`POST /loads/{id}/retry`, but for an atomic load or a dry run; the load keeps its seq'
  },
  {
    from: 'done',
    to: 'receiving',
    cause: 'retry of rejects',
    who: 'client',
    when: '`POST /loads/{id}/retry` of a load with rejects: they are sent again under a new seq, and accepted at once'
  },
  cancels('receiving'),
  cancels('accepted'),
  cancels('applying'),
  cancels('failed')
]

/** The states that a move to this one begins in. */
export const statesBefore = (to: LoadState): LoadState[] =>
  loadMoves.flatMap((move) => (move.to === to ? (move.from ?? []) : []))

/** Nothing more happens to such a load by itself. */
export const terminalStates: readonly LoadState[] = ['done', 'failed', 'aborted', 'cancelled']
