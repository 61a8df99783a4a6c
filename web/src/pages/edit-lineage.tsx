/**
 * Edits the lineage of one asset: collects edges to add and to remove, shows their effect, and saves or
 * discards all at once.
 */
import { Button } from '../parts/fields.tsx'
import { useEffect, useState } from 'preact/hooks'
import { assetAddress } from '../address.ts'
import { columnParts, isColumnUrn } from '../api/column-urn.ts'
import { cardOf, hasEditableLineage, lastPartOf, wholeName, type Card } from '../api/entity.ts'
import { downstreamEdges, neighbours, updateLineage } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { canWrite } from '../api/session.ts'
import { quoted } from '../command-line.ts'
import { CardLink } from '../parts/card-line.tsx'
import { CopyAs } from '../parts/copy-as.tsx'
import { EntityPicker } from '../parts/entity-picker.tsx'
import { Empty, Failure, Loading, Problem } from '../parts/states.tsx'
import { tell, tellError } from '../parts/toasts.tsx'
import { useAction } from '../parts/use-action.ts'
import { useAddress } from '../parts/use-address.ts'
import { useResource } from '../parts/use-resource.ts'
import { useUnsaved } from '../parts/unsaved.ts'
import { assetTexts } from '../texts/asset.ts'
import { texts } from '../texts.ts'
import { editLineageTexts as words } from '../texts/edit-lineage.ts'
import { ColumnMapping } from './edit-lineage/column-mapping.tsx'
import {
  effectsOf,
  emptyDraft,
  inverseOf,
  keyOfEdge,
  withAdded,
  withRemoved,
  type Draft,
  type Edge
} from './edit-lineage/preview.ts'
import '../style/edit-lineage.css'

/** The largest number of nodes in one lineage graph, and more hops than it can have. */
const nodesMaxCount = 2_000

const typesWithLineage = [
  'DATASET',
  'DATA_JOB',
  'CHART',
  'DASHBOARD',
  'MLMODEL',
  'MLMODEL_GROUP',
  'MLFEATURE',
  'MLPRIMARY_KEY'
]

const isColumnEdge = ({ upstreamUrn }: Edge): boolean => isColumnUrn(upstreamUrn)

const save = ({ added, removed }: Draft): Promise<unknown> =>
  graphql(updateLineage, { input: { edgesToAdd: [...added], edgesToRemove: [...removed] } })

export function EditLineagePage() {
  const { query } = useAddress('edit-lineage')
  const urn = query.urn ?? ''
  const { data, error, reload } = useResource(hasEditableLineage(urn) ? urn : null, (signal) =>
    graphql(neighbours, { urn, count: nodesMaxCount }, signal)
  )
  if (!hasEditableLineage(urn)) return <Empty isPage title={assetTexts.notFound} />
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  if (!canWrite()) return <Empty isPage title={words.readOnly} />
  const { nodes, edges: shown } = data.lineageGraph
  // An edge that bridges something soft-deleted has no statement, so it cannot be removed.
  const edges = shown.flatMap(({ upstreamUrn, downstreamUrn, statements }) =>
    statements.length > 0 ? [{ upstreamUrn, downstreamUrn }] : []
  )
  const sourcesOf = new Map(
    shown.map((edge) => [
      keyOfEdge(edge),
      [...new Set(edge.statements.map(({ source }) => source))].join(', ')
    ])
  )
  // A new component for another asset, because a draft belongs to one asset.
  return (
    <Editor
      key={urn}
      urn={urn}
      cards={nodes.map(({ entity }) => cardOf(entity))}
      edges={edges}
      sourcesOf={sourcesOf}
      reload={reload}
    />
  )
}

function Editor({
  urn,
  cards,
  edges,
  sourcesOf,
  reload
}: {
  urn: string
  cards: readonly Card[]
  edges: readonly Edge[]
  /** Who states an edge, by its key. */
  sourcesOf: ReadonlyMap<string, string>
  reload: () => void
}) {
  const [draft, setDraft] = useState<Draft>(emptyDraft)
  const [picked, setPicked] = useState<readonly Card[]>([])
  const action = useAction()
  const known = new Map([...cards, ...picked].map((card) => [card.urn, card]))
  const own = known.get(urn)
  useEffect(() => {
    if (own) document.title = `${words.title(wholeName(own))} · ${texts.product}`
  }, [own?.name])
  if (!own) return <Empty isPage title={assetTexts.notFound} />
  const doesExist = (edge: Edge): boolean => edges.some((each) => keyOfEdge(each) === keyOfEdge(edge))
  const add = (edge: Edge): void => {
    setDraft((draft) => withAdded(draft, edge, doesExist(edge)))
  }
  const remove = (edge: Edge): void => {
    setDraft((draft) => withRemoved(draft, edge, doesExist(edge)))
  }
  const change = draft.added.length + draft.removed.length
  useUnsaved(change > 0, words.leave)
  const submit = (): void => {
    const saved = draft
    action.run(
      () => save(saved),
      () => {
        setDraft(emptyDraft)
        reload()
        tell(words.saved, {
          label: texts.undo,
          run: () => {
            save(inverseOf(saved)).then(() => {
              reload()
              tell(words.undone)
            }, tellError)
          }
        })
      }
    )
  }
  const sideOf = (isUpstream: boolean): Edge[] =>
    [...edges, ...draft.added].filter((edge) =>
      isColumnEdge(edge) ? false : (isUpstream ? edge.downstreamUrn : edge.upstreamUrn) === urn
    )
  const side = (isUpstream: boolean) => (
    <Side
      title={isUpstream ? words.upstream : words.downstream}
      addLabel={isUpstream ? words.addUpstream : words.addDownstream}
      edges={sideOf(isUpstream)}
      otherOf={({ upstreamUrn, downstreamUrn }) => known.get(isUpstream ? upstreamUrn : downstreamUrn)}
      draft={draft}
      sourcesOf={sourcesOf}
      add={add}
      remove={remove}
      pick={(card) => {
        setPicked((picked) => [...picked, card])
        add(
          isUpstream
            ? { upstreamUrn: card.urn, downstreamUrn: urn }
            : { upstreamUrn: urn, downstreamUrn: card.urn }
        )
      }}
    />
  )
  const upstreamSets = sideOf(true)
    .filter((edge) => !draft.removed.some((each) => keyOfEdge(each) === keyOfEdge(edge)))
    .flatMap(({ upstreamUrn }) => known.get(upstreamUrn) ?? [])
    .filter(({ type }) => type === 'DATASET')
  return (
    <div class="stack">
      <div class="row apart">
        <h1>{words.title(wholeName(own))}</h1>
        <a href={assetAddress(urn)}>{words.back}</a>
      </div>
      <div class="sides">
        {side(true)}
        {side(false)}
      </div>
      {own.type === 'DATASET' && (
        <ColumnMapping
          card={own}
          upstreams={upstreamSets}
          edges={edges.filter((edge) => isColumnEdge(edge) && columnParts(edge.downstreamUrn).asset === urn)}
          draft={draft}
          add={add}
          remove={remove}
        />
      )}
      {change > 0 && (
        <section class="panel stack" aria-labelledby="preview">
          <h2 id="preview">{words.preview.title}</h2>
          <Preview draft={draft} nameOf={(of) => known.get(of)?.name ?? lastPartOf(of)} />
          <Problem of={action.error} />
        </section>
      )}
      <div class="save-bar row">
        <Button class="primary" disabled={change === 0 || action.isBusy} run={submit}>
          {words.preview.save}
        </Button>
        <Button
          disabled={change === 0 || action.isBusy}
          run={() => {
            setDraft(emptyDraft)
            action.forget()
          }}
        >
          {words.preview.discard}
        </Button>
        <span class="soft">
          {change === 0
            ? words.preview.nothing
            : words.preview.edges(draft.added.length, draft.removed.length)}
        </span>
      </div>
      <CopyAs
        graphql={{ text: neighbours.text, variables: { urn, count: nodesMaxCount } }}
        command={`tributary lineage ${quoted(urn)} --direction both`}
      />
    </div>
  )
}

function Side({
  title,
  addLabel,
  edges,
  otherOf,
  draft,
  sourcesOf,
  add,
  remove,
  pick
}: {
  title: string
  addLabel: string
  edges: readonly Edge[]
  otherOf: (edge: Edge) => Card | undefined
  draft: Draft
  sourcesOf: ReadonlyMap<string, string>
  add: (edge: Edge) => void
  remove: (edge: Edge) => void
  pick: (card: Card) => void
}) {
  return (
    <section class="panel stack" aria-label={title}>
      <h2>{title}</h2>
      <details>
        <summary>{addLabel}</summary>
        <EntityPicker label={addLabel} types={typesWithLineage} pick={pick} />
      </details>
      {edges.length === 0 ? (
        <p class="soft">{words.none}</p>
      ) : (
        <ul class="list">
          {edges.flatMap((edge) => {
            const other = otherOf(edge)
            if (!other) return []
            const isRemoved = draft.removed.some((each) => keyOfEdge(each) === keyOfEdge(edge))
            const isNew = draft.added.some((each) => keyOfEdge(each) === keyOfEdge(edge))
            return [
              <li key={keyOfEdge(edge)} class="row apart">
                <span class="row">
                  <CardLink card={other} />
                  {edge.upstreamUrn === edge.downstreamUrn && <span class="chip">{words.itself}</span>}
                  {sourcesOf.has(keyOfEdge(edge)) && (
                    <span class="soft">{words.statedBy(sourcesOf.get(keyOfEdge(edge)) ?? '')}</span>
                  )}
                  {isNew && <span class="chip good">{words.added}</span>}
                  {isRemoved && <span class="chip bad">{words.removed}</span>}
                </span>
                <Button
                  class="plain"
                  aria-label={(isRemoved ? words.keepOf : words.removeOf)(other.name)}
                  run={() => {
                    if (isRemoved) add(edge)
                    else remove(edge)
                  }}
                >
                  {isRemoved ? words.keep : words.remove}
                </Button>
              </li>
            ]
          })}
        </ul>
      )}
    </section>
  )
}

const listedMaxCount = 10

function Preview({ draft, nameOf }: { draft: Draft; nameOf: (urn: string) => string }) {
  const assetEdges = (edges: readonly Edge[]): Edge[] => edges.filter((edge) => !isColumnEdge(edge))
  const shown: Draft = { added: assetEdges(draft.added), removed: assetEdges(draft.removed) }
  const starts = [
    ...new Set([...shown.added, ...shown.removed].flatMap((edge) => [edge.upstreamUrn, edge.downstreamUrn]))
  ]
  const { data, error, reload } = useResource(
    starts.length === 0 ? null : starts.join(' '),
    async (signal) => {
      const graphs = []
      // One after the other, because each answer may be a whole graph.
      for (const urn of starts)
        graphs.push(await graphql(downstreamEdges, { urn, count: nodesMaxCount }, signal))
      const edges = new Map<string, Edge>()
      let isPartial = false
      const names = new Map<string, string>()
      for (const { lineageGraph } of graphs) {
        for (const edge of lineageGraph.edges) edges.set(keyOfEdge(edge), edge)
        for (const { entity, hiddenDownstream } of lineageGraph.nodes) {
          names.set(entity.urn, cardOf(entity).name)
          isPartial ||= hiddenDownstream > 0
        }
      }
      return { edges: [...edges.values()], isPartial, names }
    }
  )
  const effects = data ? effectsOf(data.edges, shown) : []
  const list = (urns: readonly string[]): string =>
    `${urns
      .slice(0, listedMaxCount)
      .map((urn) => data?.names.get(urn) ?? nameOf(urn))
      .join(', ')}${urns.length > listedMaxCount ? ', …' : ''}`
  return (
    <div class="stack" role="status">
      <p>{words.preview.edges(draft.added.length, draft.removed.length)}</p>
      {effects.map(({ of, gained, lost }) => (
        <div key={of}>
          {gained.length > 0 && (
            <p>
              {words.preview.gained(gained.length, nameOf(of))}: {list(gained)}
            </p>
          )}
          {lost.length > 0 && (
            <p>
              {words.preview.lost(lost.length, nameOf(of))}: {list(lost)}
            </p>
          )}
        </div>
      ))}
      {starts.length > 0 && !data && !error && <Loading />}
      {error && <Failure error={error} retry={reload} />}
      {data?.isPartial && <p class="soft">{words.preview.partial}</p>}
    </div>
  )
}
