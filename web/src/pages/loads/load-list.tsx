/**
 * All loads that the session may see, newest first; while any of them runs, the list is read every two
 * seconds.
 */
import { Button } from '../../parts/fields.tsx'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { addressOf } from '../../address.ts'
import { listLoads, readHealth, type Load } from '../../api/loads.ts'
import { nameOfActor } from '../../api/entity.ts'
import { isAdmin } from '../../api/session.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { goTo, useAddress } from '../../parts/use-address.ts'
import { useResource } from '../../parts/use-resource.ts'
import { whenText } from '../../parts/when.tsx'
import { loadTexts as words } from '../../texts/loads.ts'
import { texts } from '../../texts.ts'
import { StateChip } from './state-chip.tsx'
import { VerdictBar } from './verdict-bar.tsx'
import { hasEnded } from './verdicts.ts'

const pageCount = 50
const shownMaxCount = 1_000
const activeMs = 2_000
const idleMs = 10_000

const running = 'receiving,accepted,applying'
const filters: readonly (readonly [string, string])[] = [
  ['', words.anyState],
  [running, words.activeStates],
  ...['done', 'failed', 'aborted', 'cancelled'].map((state): [string, string] => [
    state,
    words.states[state] ?? state
  ])
]

export function LoadList() {
  const address = useAddress('loads')
  const { route } = useLocation()
  const state = address.query.state ?? ''
  const [count, setCount] = useState(pageCount)
  const {
    last: data,
    error,
    isLoading,
    reload
  } = useResource(`loads ${state} ${count}`, (signal) =>
    listLoads({ state: state || null, cursor: null, limit: count }, signal)
  )
  const isActive = data?.loads.some((load) => !hasEnded(load)) ?? false
  useEffect(() => {
    // Counted from the end of the last answer, so that a slow answer is not cancelled by the next request.
    if (isLoading) return
    const timer = setInterval(
      () => {
        if (document.visibilityState === 'visible') reload()
      },
      isActive ? activeMs : idleMs
    )
    return () => {
      clearInterval(timer)
    }
  }, [isActive, isLoading])
  const columns = useMemo(columnsOfTable, [])
  return (
    <section class="panel stack" aria-labelledby="loads">
      <div class="row apart">
        <h1 id="loads">{words.title}</h1>
        <div class="row" role="group" aria-label={words.filter}>
          {filters.map(([value, label]) => (
            <Button key={value} aria-pressed={state === value} run={() => address.change({ state: value })}>
              {label}
            </Button>
          ))}
        </div>
      </div>
      {error && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data && data.loads.length === 0 && (
        <Empty title={state !== '' ? words.noneFiltered : isAdmin() ? words.none : words.noneOwn}>
          {!isAdmin() && <p>{words.noneOwnHint}</p>}
        </Empty>
      )}
      {data && data.loads.length > 0 && (
        <Table<Load>
          label={words.title}
          columns={columns}
          rows={data.loads}
          keyOf={({ id }) => id}
          open={({ id }) => {
            goTo(route, addressOf('loads', { id }))
          }}
        />
      )}
      {data?.nextCursor && count < shownMaxCount && (
        <div>
          <Button run={() => setCount(Math.min(shownMaxCount, count * 2))}>{words.more}</Button>
        </div>
      )}
      {data?.nextCursor && count >= shownMaxCount && <p class="soft">{words.tooMany(shownMaxCount)}</p>}
    </section>
  )
}

const columnsOfTable = (): TableColumn<Load>[] => [
  {
    id: 'state',
    head: words.heads.state,
    value: ({ state }) => state,
    width: 'minmax(150px, 2fr)',
    cell: (load) => <StateChip load={load} />
  },
  {
    id: 'id',
    head: words.heads.id,
    value: ({ id }) => id,
    width: '80px',
    fold: 7,
    cell: ({ id }, tab) => (
      <a href={addressOf('loads', { id })} title={id} tabIndex={tab} aria-label={words.loadOf(id)}>
        {id.slice(0, 8)}
      </a>
    )
  },
  {
    id: 'source',
    head: words.heads.source,
    value: ({ source, actor }) => `${source} · ${nameOfActor(actor)}`,
    width: 'minmax(120px, 2fr)'
  },
  {
    id: 'mode',
    head: words.heads.mode,
    value: ({ mode }) => words.modes[mode] ?? mode,
    width: '75px',
    fold: 1
  },
  {
    id: 'verdicts',
    head: words.heads.verdicts,
    value: ({ counts }) => counts.applied,
    width: 'minmax(100px, 1fr)',
    fold: 4,
    cell: (load) => <VerdictBar load={load} isThin />
  },
  {
    id: 'records',
    head: words.heads.records,
    value: ({ counts }) => counts.received,
    width: '80px',
    fold: 5,
    isNumber: true,
    cell: ({ counts }) => texts.count(counts.received)
  },
  {
    id: 'created',
    head: words.heads.created,
    value: ({ createdAt }) => createdAt,
    width: '150px',
    fold: 6,
    cell: ({ createdAt }) => <span title={new Date(createdAt).toISOString()}>{whenText(createdAt)}</span>
  },
  {
    id: 'duration',
    head: words.heads.duration,
    value: ({ createdAt, finishedAt }) => (finishedAt === null ? null : finishedAt - createdAt),
    width: '80px',
    fold: 3,
    isNumber: true,
    cell: ({ createdAt, finishedAt }) =>
      finishedAt === null ? '' : words.milliseconds(finishedAt - createdAt)
  }
]

const healthMs = 15_000

/** A message that is only shown while the queue is down. */
export function QueueBanner() {
  const { data, reload } = useResource('health', (signal) => readHealth(signal))
  useEffect(() => {
    const timer = setInterval(reload, healthMs)
    return () => {
      clearInterval(timer)
    }
  }, [])
  if (data?.queue !== 'down') return null
  return (
    <p class="banner" role="alert">
      {words.queueDown}
    </p>
  )
}
