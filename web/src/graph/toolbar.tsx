/** The choices of a view: sides, hops, columns, jobs, groups, colours, time; and its exports. */
import { Button, Check, Select } from '../parts/fields.tsx'
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
  /** Where the picture has the whole window; null if it has it. */
  large: string | null
  exportAs: (format: ExportFormat) => void
  fit: () => void
  showKeys: () => void
}

const dayMs = 86_400_000
const spans = { day: dayMs, week: 7 * dayMs, month: 30 * dayMs, year: 365 * dayMs }
type Span = keyof typeof spans

export function Toolbar({ state, isNarrow, change, tableAddress, large, exportAs, fit, showKeys }: Props) {
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
      <Check
        role="switch"
        data-testid="columns"
        label={words.columns}
        value={state.showsColumns}
        change={(showsColumns) => change({ showsColumns, column: null })}
      />
      <Check
        role="switch"
        data-testid="hide-jobs"
        label={words.hideJobs}
        value={state.hidesJobs}
        change={(hidesJobs) => change({ hidesJobs })}
      />
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
        {large === null ? (
          <a class="button" href={tableAddress}>
            {words.table}
          </a>
        ) : (
          <a class="button" href={large}>
            {words.openLarge}
          </a>
        )}
        <ExportMenu exportAs={exportAs} />
        {!isNarrow && (
          <>
            <Button title={words.fitTitle} run={fit}>
              {words.fit}
            </Button>
            <Button aria-label={words.keys.title} run={showKeys}>
              ?
            </Button>
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
      <Select
        label={label}
        value={value}
        change={(text) => {
          const chosen = values.find((each) => each === text)
          if (chosen) choose(chosen)
        }}
        options={values.map((each) => [each, names[each]] as const)}
      />
    </label>
  )
}

const hopChoices = [0, 1, 2, 3, 4, 5, 10, 20, bounds.hopsMost]

type HopsProps = { direction: Direction; value: number; choose: (value: number) => void }

const Hops = ({ direction, value, choose }: HopsProps) => (
  <Select
    label={words.hops[direction]}
    value={String(value)}
    change={(hops) => choose(Number(hops))}
    options={[...new Set([...hopChoices, value])]
      .sort((a, b) => a - b)
      .map((hops) => [String(hops), words.hopsShown[direction](hopsText(hops))] as const)}
  />
)

/** Whole days, so that a link shows the same for everyone. */
function TimeChoice({ state, change }: Pick<Props, 'state' | 'change'>) {
  const today = Math.floor(Date.now() / dayMs) * dayMs
  const sinceOf = (span: Span): number => today - spans[span]
  const known = (Object.keys(spans) as Span[]).find((span) => sinceOf(span) === state.since)
  const isOwn = (state.since !== null && !known) || state.until !== null
  return (
    <label>
      <Select
        label={words.time}
        data-testid="time"
        value={isOwn ? 'own' : (known ?? 'all')}
        change={(value) => {
          if (value !== 'own') change({ since: value === 'all' ? null : sinceOf(value as Span), until: null })
        }}
        options={[
          ['all', words.times.all],
          ...(Object.keys(spans) as Span[]).map((span) => [span, words.times[span]] as const),
          ...(isOwn ? [['own', words.times.own] as const] : [])
        ]}
      />
    </label>
  )
}

const ExportMenu = ({ exportAs }: { exportAs: (format: ExportFormat) => void }) => (
  <Menu label={words.export}>
    {(close) =>
      (['svg', 'png', 'csv'] as const).map((format) => (
        <Button
          key={format}
          class="plain"
          data-testid={`export-${format}`}
          run={() => {
            close()
            exportAs(format)
          }}
        >
          {words.exportAs[format]}
        </Button>
      ))
    }
  </Menu>
)
