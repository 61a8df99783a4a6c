/** One load: its changing state, its verdicts, its rejects, and actions on it. */
import { Button, Check } from '../../parts/fields.tsx'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { addressOf } from '../../address.ts'
import { ApiError } from '../../api/errors.ts'
import { cancelLoad, retryLoad, undoLoad, type Load } from '../../api/loads.ts'
import { canWrite } from '../../api/session.ts'
import { AssetRow } from '../../parts/asset-row.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { tell } from '../../parts/toasts.tsx'
import { goTo } from '../../parts/use-address.ts'
import { useAction } from '../../parts/use-action.ts'
import { useResource } from '../../parts/use-resource.ts'
import { When } from '../../parts/when.tsx'
import { loadTexts as words } from '../../texts/loads.ts'
import { texts } from '../../texts.ts'
import { changedQuery, loadQuery } from '../../api/load-queries.ts'
import { cardOf, nameOfActor } from '../../api/entity.ts'
import { graphql } from '../../api/request.ts'
import { Report } from './report.tsx'
import { Rejects } from './rejects.tsx'
import { StateChip } from './state-chip.tsx'
import { UndoPreview } from './undo-preview.tsx'
import { useLoad } from './use-load.ts'
import { VerdictBar } from './verdict-bar.tsx'
import { hasEnded, rateOf, waitingOf } from './verdicts.ts'

type OpenDialog = 'retry' | 'create' | 'force' | 'cancel' | 'undo' | null

export function LoadDetail({ id }: { id: string }) {
  const { load, error, isLive, update, retry } = useLoad(id)
  const [dialog, setDialog] = useState<OpenDialog>(null)
  if (error instanceof ApiError && error.status === 404)
    return (
      <Empty title={words.missing(id)}>
        <p>{words.missingHint}</p>
        <a href={addressOf('loads')}>{words.all}</a>
      </Empty>
    )
  if (!load) return error ? <Failure error={error} retry={retry} /> : <Loading />
  const isRunning = !hasEnded(load)
  const isSnapshot = load.mode === 'snapshot'
  return (
    <div class="stack load-page">
      <a href={addressOf('loads')}>{words.all}</a>
      <section class="panel stack" aria-labelledby="load">
        <div class="row">
          <h1 id="load">{words.loadOf(id)}</h1>
          <StateChip load={load} />
          {isRunning && (
            <span class="soft" role="status" data-testid="live">
              {isLive ? words.live : words.notLive}
            </span>
          )}
        </div>
        <VerdictBar load={load} />
        {isRunning && <Rate load={load} />}
        {load.error && (
          <p class="problem" data-testid="load-error">
            {load.error}
          </p>
        )}
        {load.snapshot && <p>{snapshotText(load.snapshot)}</p>}
        <div class="row">
          {canWrite() && <Actions load={load} isSnapshot={isSnapshot} open={setDialog} />}
          <CopyAs
            graphql={{ text: loadQuery.text, variables: { id } }}
            command={`tributary load status ${id}`}
          />
        </div>
        <Facts load={load} />
      </section>
      {load.report && (
        <section class="panel stack">
          <Report report={load.report} />
        </section>
      )}
      {load.counts.rejected > 0 && (
        <Rejects
          id={id}
          format={load.format}
          total={load.counts.rejected}
          isOver={!isRunning}
          createMissing={canWrite() && canRetry(load) ? () => setDialog('create') : undefined}
        />
      )}
      {!isRunning && !load.dryRun && load.counts.applied > 0 && <Changed id={id} />}
      {dialog && (
        <LoadDialog
          kind={dialog}
          load={load}
          close={() => {
            setDialog(null)
          }}
          done={(next) => {
            setDialog(null)
            update(next)
          }}
        />
      )}
    </div>
  )
}

function snapshotText({ sweep, removed, toRemove, kept }: NonNullable<Load['snapshot']>): string {
  if (sweep === 'removing') return words.snapshot.removing(removed, toRemove ?? removed)
  if (sweep === 'done') return words.snapshot.done(removed, kept ?? 0)
  return sweep === 'held' ? words.snapshot.held : words.snapshot.pending
}

const changedShownCount = 12

/** The assets that the load changed. */
function Changed({ id }: { id: string }) {
  const { data, error, reload } = useResource(`changed ${id}`, (signal) =>
    graphql(changedQuery, { id, count: changedShownCount }, signal)
  )
  const changed = data?.load?.changed
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!changed || changed.assets.length === 0) return null
  return (
    <section class="panel stack" aria-labelledby="changed">
      <h2 id="changed">{words.changed}</h2>
      <ul class="list">
        {changed.assets.map((entity) => (
          <li key={entity.urn}>
            <AssetRow card={cardOf(entity)} />
          </li>
        ))}
      </ul>
      {!changed.isComplete && <p class="soft">{words.changedMore}</p>}
    </section>
  )
}

/** The speed, from the last two states in the stream. */
function Rate({ load }: { load: Load }) {
  const last = useRef<{ counts: Load['counts']; at: number } | null>(null)
  const [rate, setRate] = useState<number | null>(null)
  useEffect(() => {
    const now = { counts: load.counts, at: Date.now() }
    const found = rateOf(last.current, now)
    if (found !== null) setRate(found)
    if (found !== null || !last.current) last.current = now
  }, [load])
  if (rate === null || load.state === 'receiving') return null
  return <p class="soft">{words.rate(rate, Math.ceil(waitingOf(load.counts) / rate))}</p>
}

function Facts({ load }: { load: Load }) {
  const facts: [string, ComponentChildren | false | null][] = [
    [words.heads.records, texts.count(load.counts.received)],
    [words.heads.created, <When millis={load.createdAt} />],
    [words.heads.duration, load.finishedAt !== null && words.milliseconds(load.finishedAt - load.createdAt)],
    [words.source, load.source],
    [words.sender, nameOfActor(load.actor)],
    [words.format, `${load.format} · ${words.modes[load.mode] ?? load.mode}`],
    [words.ignoredColumns, load.ignoredColumns?.join(', ')],
    [words.warnings, load.warnings && <Warnings {...load.warnings} />],
    [load.dryRun ? words.wouldUndo : words.undoes, load.undoes && <LoadLink id={load.undoes} />],
    [words.undoneBy, load.undoneBy && <LoadLink id={load.undoneBy} />]
  ]
  return (
    <dl class="vitals">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

const LoadLink = ({ id }: { id: string }) => <a href={addressOf('loads', { id })}>{words.loadOf(id)}</a>

const Warnings = ({ count, messages }: NonNullable<Load['warnings']>) => (
  <>
    {messages.map((message) => (
      <div key={message}>{message}</div>
    ))}
    {count > messages.length && words.moreWarnings(count - messages.length)}
  </>
)

const hasFailed = ({ state, atomic }: Load): boolean => state === 'failed' && !atomic
const canRetry = (load: Load): boolean =>
  (hasFailed(load) || (load.state === 'done' && load.counts.rejected > 0)) && !load.dryRun && !load.undoneBy

const Actions = ({
  load,
  isSnapshot,
  open
}: {
  load: Load
  isSnapshot: boolean
  open: (dialog: OpenDialog) => void
}) => {
  const isFailed = hasFailed(load)
  const canForce =
    isSnapshot && !load.dryRun && !load.undoneBy && (isFailed || load.snapshot?.sweep === 'held')
  const canUndo =
    ['done', 'failed', 'cancelled'].includes(load.state) &&
    !load.dryRun &&
    !load.undoneBy &&
    load.format !== 'openlineage'
  const button = (kind: Exclude<OpenDialog, null>, label: string) => (
    <Button run={() => open(kind)}>{label}</Button>
  )
  return (
    <>
      {!hasEnded(load) && button('cancel', words.cancel)}
      {canRetry(load) && button('retry', isFailed ? words.retryFailed : words.retry)}
      {canForce && button('force', words.retryForced)}
      {canUndo && button('undo', words.undo)}
    </>
  )
}

function LoadDialog({
  kind,
  load,
  close,
  done
}: {
  kind: Exclude<OpenDialog, null>
  load: Load
  close: () => void
  done: (load: Load) => void
}) {
  const action = useAction()
  const { route } = useLocation()
  const [createsMissing, setCreatesMissing] = useState(kind === 'create')
  const { counts } = load
  const again = {
    title: load.state === 'failed' ? words.retryFailedTitle : words.retryTitle(counts.rejected),
    action: load.state === 'failed' ? words.retryFailed : words.retry,
    work: () => retryLoad(load.id, { createsMissing }),
    lines: [words.retryHint]
  }
  const parts = {
    retry: again,
    create: again,
    force: {
      title: words.forceTitle,
      action: words.retryForced,
      work: () => retryLoad(load.id, { force: true }),
      lines: [words.forceHint]
    },
    cancel: {
      title: words.cancelTitle,
      action: words.cancel,
      work: () => cancelLoad(load.id),
      lines: [load.dryRun ? words.cancelHintOfDryRun : words.cancelHint(counts.applied, waitingOf(counts))]
    },
    undo: {
      title: words.undoTitle,
      action: words.undo,
      work: () => undoLoad(load.id),
      lines: [
        words.undoCounts(counts.applied, counts.unchanged),
        ...(load.snapshot && load.snapshot.removed > 0 ? [words.undoRemoved(load.snapshot.removed)] : []),
        words.undoHint
      ]
    }
  }[kind]
  return (
    <ConfirmDialog
      title={parts.title}
      action={parts.action}
      isDanger={kind === 'cancel' || kind === 'undo'}
      {...action}
      close={close}
      run={() => {
        action.run(parts.work, (next) => {
          if (kind === 'cancel')
            tell(next.dryRun ? words.cancelledDryRun : words.cancelled(next.counts.applied))
          done(next)
          // A retry and an undo are loads of their own, shown on their own page.
          if (next.id !== load.id) goTo(route, addressOf('loads', { id: next.id }))
        })
      }}
    >
      {parts.lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {parts === again && counts.rejected > 0 && (
        <Check label={words.drop.createsMissing} value={createsMissing} change={setCreatesMissing} />
      )}
      {kind === 'undo' && <UndoPreview id={load.id} />}
    </ConfirmDialog>
  )
}
