/** Connects columns of an upstream dataset with columns of the asset: by drag, or by pressing one in each list. */
import { Button, Select } from '../../parts/fields.tsx'
import { useState } from 'preact/hooks'
import { readAspects } from '../../api/aspects.ts'
import { columnParts, columnUrn, shownPath } from '../../api/column-urn.ts'
import type { Card } from '../../api/entity.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { editLineageTexts } from '../../texts/edit-lineage.ts'
import { readColumns } from '../asset/read-columns.ts'
import { keyOfEdge, type Draft, type Edge } from './preview.ts'

const words = editLineageTexts.columns

const pathOf = (urn: string): string => shownPath(columnParts(urn).path)

export function ColumnMapping({
  card,
  upstreams,
  edges,
  draft,
  add,
  remove
}: {
  card: Card
  /** The upstream datasets, including new ones. */
  upstreams: readonly Card[]
  /** The column edges that exist. */
  edges: readonly Edge[]
  draft: Draft
  add: (edge: Edge) => void
  remove: (edge: Edge) => void
}) {
  const [chosenUrn, setChosenUrn] = useState<string | null>(null)
  const upstream = upstreams.find(({ urn }) => urn === chosenUrn) ?? upstreams[0]
  const [from, setFrom] = useState<string | null>(null)
  const [to, setTo] = useState<string | null>(null)
  const { data, error, reload } = useResource(
    upstream ? `${upstream.urn} ${card.urn}` : null,
    async (signal) => {
      const [above, own] = await Promise.all(
        [upstream?.urn ?? '', card.urn].map(async (urn) =>
          readColumns(urn, await readAspects(urn, signal), signal)
        )
      )
      return { above: above ?? [], own: own ?? [] }
    }
  )
  if (!upstream)
    return (
      <section class="panel stack">
        <h2>{words.title}</h2>
        <p class="soft">{words.noUpstream}</p>
      </section>
    )
  const connect = (upstreamPath: string, downstreamPath: string): void => {
    add({
      upstreamUrn: columnUrn(upstream.urn, upstreamPath),
      downstreamUrn: columnUrn(card.urn, downstreamPath)
    })
    setFrom(null)
    setTo(null)
  }
  const shown = [
    ...edges.filter((edge) => !draft.removed.some((each) => keyOfEdge(each) === keyOfEdge(edge))),
    ...draft.added
  ].filter(({ upstreamUrn }) => columnParts(upstreamUrn).asset === upstream.urn)
  return (
    <section class="panel stack" aria-labelledby="columns">
      <h2 id="columns">{words.title}</h2>
      <p class="soft">{words.how}</p>
      <label class="field narrow">
        {words.upstream}
        <Select
          label={words.upstream}
          value={upstream.urn}
          change={(urn) => {
            setChosenUrn(urn)
            // The column belongs to the previous asset.
            setFrom(null)
          }}
          options={upstreams.map(({ urn, name }) => [urn, name] as const)}
        />
      </label>
      {error && !data && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data && (
        <div class="mapping">
          <ColumnList
            label={words.from(upstream.name)}
            paths={data.above.map(({ path }) => path)}
            chosen={from}
            choose={setFrom}
          />
          <ColumnList
            label={words.from(card.name)}
            paths={data.own.map(({ path }) => path)}
            chosen={to}
            choose={setTo}
            drop={connect}
          />
        </div>
      )}
      <div>
        <Button
          disabled={from === null || to === null}
          run={() => from !== null && to !== null && connect(from, to)}
        >
          {words.connect}
        </Button>
      </div>
      <h3>{words.pairs}</h3>
      {shown.length === 0 ? (
        <p class="soft">{words.none}</p>
      ) : (
        <ul class="list">
          {shown.map((edge) => {
            const text = `${pathOf(edge.upstreamUrn)} → ${pathOf(edge.downstreamUrn)}`
            return (
              <li key={keyOfEdge(edge)} class="row apart">
                <span>{text}</span>
                <Button aria-label={editLineageTexts.removeOf(text)} run={() => remove(edge)}>
                  {editLineageTexts.remove}
                </Button>
              </li>
            )
          })}
        </ul>
      )}
    </section>
  )
}

const dragType = 'application/x-tributary-column'

/** `drop` makes its columns accept columns dragged from the other list. */
const ColumnList = ({
  label,
  paths,
  chosen,
  choose,
  drop
}: {
  label: string
  paths: readonly string[]
  chosen: string | null
  choose: (path: string | null) => void
  drop?: (from: string, to: string) => void
}) => (
  <div role="group" aria-label={label} class="stack">
    <h3>{label}</h3>
    {paths.length === 0 && <p class="soft">{words.unknown}</p>}
    {paths.map((path) => (
      <Button
        key={path}
        aria-pressed={path === chosen}
        draggable={!drop}
        run={() => choose(path === chosen ? null : path)}
        onDragStart={(event) => {
          event.dataTransfer?.setData(dragType, path)
        }}
        onDragOver={(event) => {
          if (drop && event.dataTransfer?.types.includes(dragType)) event.preventDefault()
        }}
        onDrop={(event) => {
          const dragged = event.dataTransfer?.getData(dragType)
          if (!drop || !dragged) return
          event.preventDefault()
          drop(dragged, path)
        }}
      >
        {shownPath(path)}
      </Button>
    ))}
  </div>
)
