/** The choices of a view: sides, hops, columns, jobs, groups, colours, time; and its exports. */
import {
  bounds,
  groupings,
  hopsText,
  sidesShown,
  type Direction,
  type Grouping,
  type SidesShown,
  type ViewState
} from './model.ts'
import { Menu } from '../parts/menu.tsx'
import { lineageTexts as words } from '../texts/lineage.ts'

export type ExportFormat = 'svg' | 'png' | 'csv'

type Props = {
  state: ViewState
  /** Whether the graph is a list: then the choices are folded away, and nothing fits or has keys. */
  isNarrow: boolean
  change: (next: Partial<ViewState>) => void
  tableAddress: string
  exportAs: (format: ExportFormat) => void
  fit: () => void
  showKeys: () => void
}

const dayMs = 86_400_000
const spans = { day: dayMs, week: 7 * dayMs, month: 30 * dayMs, year: 365 * dayMs }
type Span = keyof typeof spans

export function Toolbar({ state, isNarrow, change, tableAddress, exportAs, fit, showKeys }: Props) {
  const choices = (
    <>
      <Choice
        isNamed={false}
        label={words.direction}
        values={sidesShown}
        names={{ both: words.both, up: words.up, down: words.down }}
        value={state.sides}
        choose={(sides: SidesShown) => {
          change({ sides })
        }}
      />
      {state.sides !== 'down' && (
        <Hops
          direction="UPSTREAM"
          value={state.up}
          choose={(up) => {
            change({ up })
          }}
        />
      )}
      {state.sides !== 'up' && (
        <Hops
          direction="DOWNSTREAM"
          value={state.down}
          choose={(down) => {
            change({ down })
          }}
        />
      )}
      <label>
        <input
          type="checkbox"
          role="switch"
          data-testid="columns"
          checked={state.showsColumns}
          onChange={(event) => {
            change({ showsColumns: event.currentTarget.checked, column: null })
          }}
        />
        {words.columns}
      </label>
      <label>
        <input
          type="checkbox"
          role="switch"
          data-testid="hide-jobs"
          checked={state.hidesJobs}
          onChange={(event) => {
            change({ hidesJobs: event.currentTarget.checked })
          }}
        />
        {words.hideJobs}
      </label>
      <Choice
        isNamed={false}
        label={words.groupBy}
        values={groupings}
        names={words.groups}
        value={state.group}
        choose={(group: Grouping) => {
          change({ group, toggledGroups: [] })
        }}
      />
      <TimeChoice state={state} change={change} />
    </>
  )
  return (
    <div class="toolbar" role="toolbar" aria-label={words.toolbar}>
      {isNarrow ? (
        <details>
          <summary>{words.toolbar}</summary>
          <div class="row">{choices}</div>
        </details>
      ) : (
        choices
      )}
      <span class="end part">
        <a class="button" href={tableAddress}>
          {words.table}
        </a>
        <ExportMenu exportAs={exportAs} />
        {!isNarrow && (
          <>
            <button type="button" title={words.fitTitle} onClick={fit}>
              {words.fit}
            </button>
            <button type="button" aria-label={words.keys.title} onClick={showKeys}>
              ?
            </button>
          </>
        )}
      </span>
    </div>
  )
}

export function Choice<Value extends string>({
  label,
  isNamed = true,
  values,
  names,
  value,
  choose
}: {
  label: string
  /** False if the values already show the choice. */
  isNamed?: boolean
  values: readonly Value[]
  names: { readonly [value in Value]: string }
  value: Value
  choose: (value: Value) => void
}) {
  return (
    <label>
      {isNamed && <span class="soft">{label}</span>}
      <select
        aria-label={label}
        value={value}
        onChange={(event) => {
          const chosen = values.find((each) => each === event.currentTarget.value)
          if (chosen) choose(chosen)
        }}
      >
        {values.map((each) => (
          <option key={each} value={each}>
            {names[each]}
          </option>
        ))}
      </select>
    </label>
  )
}

const hopChoices = [0, 1, 2, 3, 4, 5, 10, 20, bounds.hopsMost]

type HopsProps = { direction: Direction; value: number; choose: (value: number) => void }

const Hops = ({ direction, value, choose }: HopsProps) => (
  <select
    aria-label={words.hops[direction]}
    value={value}
    onChange={(event) => {
      choose(Number(event.currentTarget.value))
    }}
  >
    {[...new Set([...hopChoices, value])]
      .sort((a, b) => a - b)
      .map((hops) => (
        <option key={hops} value={hops}>
          {words.hopsShown[direction](hopsText(hops))}
        </option>
      ))}
  </select>
)

/** Whole days, so that a link shows the same for everyone. */
function TimeChoice({ state, change }: Pick<Props, 'state' | 'change'>) {
  const today = Math.floor(Date.now() / dayMs) * dayMs
  const sinceOf = (span: Span): number => today - spans[span]
  const known = (Object.keys(spans) as Span[]).find((span) => sinceOf(span) === state.since)
  const isOwn = (state.since !== null && !known) || state.until !== null
  return (
    <label>
      <select
        aria-label={words.time}
        value={isOwn ? 'own' : (known ?? 'all')}
        data-testid="time"
        onChange={(event) => {
          const { value } = event.currentTarget
          if (value === 'own') return
          change({ since: value === 'all' ? null : sinceOf(value as Span), until: null })
        }}
      >
        <option value="all">{words.times.all}</option>
        {(Object.keys(spans) as Span[]).map((span) => (
          <option key={span} value={span}>
            {words.times[span]}
          </option>
        ))}
        {isOwn && <option value="own">{words.times.own}</option>}
      </select>
    </label>
  )
}

const ExportMenu = ({ exportAs }: { exportAs: (format: ExportFormat) => void }) => (
  <Menu label={words.export}>
    {(close) =>
      (['svg', 'png', 'csv'] as const).map((format) => (
        <button
          key={format}
          type="button"
          class="plain"
          data-testid={`export-${format}`}
          onClick={() => {
            close()
            exportAs(format)
          }}
        >
          {words.exportAs[format]}
        </button>
      ))
    }
  </Menu>
)
