/** The picture of one statement: the tables it reads on the left, what it writes on the right, and a line for each column. */
import { assetAddress } from '../address.ts'
import { curve } from '../graph/curves.ts'
import { sqlTexts as words } from '../texts/sql.ts'

export type Upstream = { table: string; column: string; transformation: string; certainty: string }
export type SqlTable = { name: string; urn: string | null; exists: boolean }
export type Statement = {
  kind: string
  line: number
  inputs: SqlTable[]
  outputs: SqlTable[]
  columns: {
    output: string | null
    column: string
    upstreams: Upstream[]
    transformation: string
    certainty: string
  }[]
  indirect: { table: string; column: string; transformation: string }[]
  problems: { line: number; column: number; code: string; message: string }[]
}

const [cardWidth, gapWidth, headHeight, rowHeight, cardGap] = [300, 180, 40, 26, 18]

type Card = { table: SqlTable; columns: string[]; x: number; y: number; height: number }

/** Cards below each other, each with the columns that have a line. */
function cardsOf(tables: readonly SqlTable[], columnsOf: (name: string) => string[], x: number): Card[] {
  let y = 0
  return tables.map((table) => {
    const columns = columnsOf(table.name)
    const height = headHeight + columns.length * rowHeight + (columns.length > 0 ? 6 : 0)
    const card = { table, columns, x, y, height }
    y += height + cardGap
    return card
  })
}

const lastOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)
const placeOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('.')))

const middleOf = ({ y, columns }: Card, column: string): number =>
  y + headHeight + (columns.indexOf(column) + 0.5) * rowHeight

export function SqlPicture({ statement }: { statement: Statement }) {
  const { inputs, outputs, columns } = statement
  const left = cardsOf(
    inputs,
    (name) => [
      ...new Set(
        columns.flatMap(({ upstreams }) =>
          upstreams.flatMap(({ table, column }) => (table === name ? [column] : []))
        )
      )
    ],
    0
  )
  const written = outputs.length > 0 ? outputs : [{ name: words.result, urn: null, exists: true }]
  const right = cardsOf(
    written,
    (name) => columns.flatMap(({ output, column }) => ((output ?? words.result) === name ? [column] : [])),
    cardWidth + gapWidth
  )
  const lines = columns.flatMap(({ output, column, upstreams }) =>
    upstreams.flatMap(({ table, column: from, transformation, certainty }) => {
      const [start, end] = [
        left.find((card) => card.table.name === table),
        right.find((card) => card.table.name === (output ?? words.result))
      ]
      if (!start || !end) return []
      const { path } = curve([
        { x: cardWidth, y: middleOf(start, from) },
        { x: end.x, y: middleOf(end, column) }
      ])
      return [{ path, transformation, certainty, title: `${table}.${from} → ${column}` }]
    })
  )
  const height = Math.max(...[...left, ...right].map((card) => card.y + card.height), 0)
  const width = cardWidth * 2 + gapWidth
  return (
    <div class="sql-picture" tabIndex={0} role="group" aria-label={words.columns(columns.length)}>
      <div class="sql-sheet" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          {lines.map(({ path, transformation, certainty, title }) => (
            <path key={title} class={`${transformation.toLowerCase()} ${certainty.toLowerCase()}`} d={path}>
              <title>{title}</title>
            </path>
          ))}
        </svg>
        {[...left, ...right].map((card) => (
          <div
            key={`${card.x} ${card.table.name}`}
            class="sql-card"
            style={{
              left: `${card.x}px`,
              top: `${card.y}px`,
              width: `${cardWidth}px`,
              height: `${card.height}px`
            }}
          >
            <p class="sql-table" title={card.table.name}>
              {card.table.urn !== null && card.table.exists ? (
                <a href={assetAddress(card.table.urn)}>{lastOf(card.table.name)}</a>
              ) : (
                <span>{lastOf(card.table.name)}</span>
              )}
              <span class="soft">{card.table.exists ? placeOf(card.table.name) : words.notStored}</span>
            </p>
            {card.columns.map((column) => (
              <p key={column} class="sql-column" title={column}>
                {column}
              </p>
            ))}
          </div>
        ))}
      </div>
    </div>
  )
}
