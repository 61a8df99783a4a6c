/** The rejects of a load, each with its line, code, field, reason and text, and the number for each code. */
import { Button } from '../../parts/fields.tsx'
import { useMemo, useState } from 'preact/hooks'
import { lastPartOf } from '../../api/entity.ts'
import { readRejects, rejectsPath, type Reject } from '../../api/loads.ts'
import { Snippet } from '../../parts/copy-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ShowAll } from '../../parts/show-all.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { printSort, readSort } from '../../parts/sort-rows.ts'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { usePages } from '../../parts/use-pages.ts'
import { dialogTexts } from '../../texts/dialog.ts'
import { loadTexts as words } from '../../texts/loads.ts'

const pageCount = 1_000
/** The number of rejects that the server keeps. */
const rowsMaxCount = 100_000
/** The number of reasons that are shown at first. */
const reasonsFirstCount = 5

export function Rejects({
  id,
  format,
  total,
  isOver,
  createMissing
}: {
  id: string
  format: string
  total: number
  /** Whether no more rejects can come. */
  isOver: boolean
  /** Sends the rejected records again, creating what they refer to; undefined where that cannot be done. */
  createMissing?: (() => void) | undefined
}) {
  const address = useAddress('loads')
  const [shown, setShown] = useState<Reject | null>(null)
  // While the load runs, only the first rejects are read; afterwards all.
  const { rows, isLoading, error, retry } = usePages<Reject>(
    `${id} ${isOver} ${isOver ? total : Math.ceil(total / pageCount)}`,
    async (next, signal) => {
      const page = await readRejects(id, { after: Number(next ?? 0), limit: pageCount }, signal)
      const last = page.at(-1)
      return {
        rows: page,
        next: isOver && page.length === pageCount && last ? String(last.line) : null,
        total,
        isPartial: false
      }
    },
    rowsMaxCount
  )
  const code = address.query.code ?? ''
  const codes = useMemo(() => countCodes(rows), [rows])
  const filtered = useMemo(() => (code === '' ? rows : rows.filter((row) => row.code === code)), [rows, code])
  const reasons = useMemo(() => reasonsOf(filtered), [filtered])
  const columns = useMemo(() => columnsOf(setShown), [])
  return (
    <>
      {reasons.length > 0 && (
        <section class="panel stack causes" aria-labelledby="causes">
          <h2 id="causes">{words.reasons}</h2>
          <ul class="plain-list reasons" aria-label={words.reasons}>
            <ShowAll
              items={reasons}
              firstCount={reasonsFirstCount}
              label={words.reasons}
              draw={({ code: of, message, count, line }) => (
                <li key={`${of} ${message}`}>
                  <p>
                    <strong>{words.reason(count, of)}</strong> {words.causes[of] ?? ''}
                  </p>
                  <p class="soft">
                    {count > 1 && words.reasonExample} {message} {words.firstOf(line)}
                  </p>
                  {of === 'MISSING_REFERENCE' && createMissing && (
                    <div>
                      <Button class="primary" run={createMissing}>
                        {words.retryCreating}
                      </Button>
                    </div>
                  )}
                </li>
              )}
            />
          </ul>
        </section>
      )}
      <section class="panel stack" aria-labelledby="rejects">
        <div class="row apart">
          <div class="row">
            <h2 id="rejects">{words.rejects}</h2>
            <span class="soft" role="status" data-testid="rejects-showing">
              {words.rejectsShown(filtered.length, total)}
            </span>
          </div>
          <div class="row">
            <a class="button" href={`../${rejectsPath(id)}`} download="">
              {words.downloadNdjson}
            </a>
            {format === 'csv' && (
              <a class="button" href={`../${rejectsPath(id, { format: 'csv' })}`} download="">
                {words.downloadCsv}
              </a>
            )}
          </div>
        </div>
        {codes.length > 1 && (
          <div class="row" role="group" aria-label={words.rejectHeads.code}>
            {codes.map(([name, count]) => (
              <Button
                key={name}
                aria-pressed={name === code}
                run={() => address.change({ code: name === code ? null : name })}
              >
                {words.codeCount(name, count)}
              </Button>
            ))}
          </div>
        )}
        {error && <Failure error={error} retry={retry} />}
        {rows.length === 0 && isLoading && <Loading />}
        {filtered.length > 0 && (
          <Table<Reject>
            label={words.rejects}
            columns={columns}
            rows={filtered}
            keyOf={({ line }) => String(line)}
            sort={readSort(address.query.sort)}
            onSort={(sort) => {
              address.change({ sort: printSort(sort) }, { replace: true })
            }}
            open={setShown}
          />
        )}
        {shown && (
          <Dialog
            title={words.recordOf(shown.line)}
            close={() => {
              setShown(null)
            }}
          >
            <p>
              <code>{shown.code}</code> {shown.message}
            </p>
            <Snippet text={shown.record} label={words.recordOf(shown.line)} />
            <div>
              <Button run={() => setShown(null)}>{dialogTexts.close}</Button>
            </div>
          </Dialog>
        )}
      </section>
    </>
  )
}

const urns = /urn:li:[^\s"']+/g

/** The names of the assets in a message: what tells it from others of its kind. */
const namesIn = (message: string): string[] => [...new Set((message.match(urns) ?? []).map(lastPartOf))]

/** A message without the names in it. */
const kindOf = (message: string): string => message.replaceAll(urns, '…')

/**
 * Reasons that differ in the names of assets only once, each with the number of its records and the first of them;
 * most frequent first.
 */
export function reasonsOf(
  rows: readonly Reject[]
): { code: string; message: string; count: number; line: number }[] {
  const reasons = new Map<string, { code: string; message: string; count: number; line: number }>()
  for (const { code, message, line } of rows) {
    const key = `${code} ${kindOf(message)}`
    const known = reasons.get(key)
    reasons.set(key, known ? { ...known, count: known.count + 1 } : { code, message, count: 1, line })
  }
  return [...reasons.values()].sort((a, b) => b.count - a.count || a.line - b.line)
}

function countCodes(rows: readonly Reject[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const { code } of rows) counts.set(code, (counts.get(code) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}

const columnsOf = (show: (reject: Reject) => void): TableColumn<Reject>[] => [
  { id: 'line', head: words.rejectHeads.line, value: ({ line }) => line, width: '56px', isNumber: true },
  {
    id: 'code',
    head: words.rejectHeads.code,
    value: ({ code }) => code,
    width: 'minmax(180px, 1fr)',
    fold: 2
  },
  {
    id: 'field',
    head: words.rejectHeads.field,
    value: ({ field }) => field,
    width: 'minmax(120px, 1fr)',
    fold: 3
  },
  {
    id: 'message',
    head: words.rejectHeads.message,
    value: ({ message }) => message,
    width: 'minmax(220px, 4fr)',
    cell: ({ message }) => (
      <span title={message}>
        {namesIn(message).map((name) => (
          <strong key={name}>{name} </strong>
        ))}
        <span class="soft">{message}</span>
      </span>
    )
  },
  {
    id: 'record',
    head: words.rejectHeads.record,
    value: ({ record }) => record,
    isSortable: false,
    width: 'minmax(160px, 2fr)',
    fold: 1,
    cell: (reject, tab) => (
      <Button
        class="plain record"
        tabIndex={tab}
        title={words.showRecord(reject.line)}
        run={() => show(reject)}
      >
        {reject.record}
      </Button>
    )
  }
]
