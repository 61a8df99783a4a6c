/** Who asserted the lineage one hop away: source, aspect, author, time and load of each edge. */
import { useState } from 'preact/hooks'
import { addressOf, assetAddress } from '../../address.ts'
import { cardOf, lastPartOf, wholeName } from '../../api/entity.ts'
import { neighbourEdges, type EdgeWithStatements } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import type { Sort } from '../../parts/sort-rows.ts'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { whenText } from '../../parts/when.tsx'
import { assetTexts } from '../../texts/asset.ts'

const words = assetTexts.statements

/** The largest number of nodes in one lineage graph. */
const neighboursMaxCount = 2_000

type Row = {
  key: string
  edge: EdgeWithStatements
  statement: EdgeWithStatements['statements'][number]
}

export function Statements({ urn }: { urn: string }) {
  const [sort, setSort] = useState<Sort | null>(null)
  const { data, error, reload } = useResource(urn, (signal) =>
    graphql(neighbourEdges, { urn, count: neighboursMaxCount }, signal)
  )
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  const { nodes, edges: around } = data.lineageGraph
  // The graph has the edges between neighbours as well.
  const edges = around.filter(
    ({ upstreamUrn, downstreamUrn }) => upstreamUrn === urn || downstreamUrn === urn
  )
  const names = new Map(nodes.map(({ entity }) => [entity.urn, wholeName(cardOf(entity))]))
  const rows: Row[] = edges.flatMap((edge) =>
    edge.statements.map((statement, index) => ({
      key: `${edge.upstreamUrn} ${edge.downstreamUrn} ${index}`,
      edge,
      statement
    }))
  )
  if (rows.length === 0) return <Empty title={words.none} />
  const start = nodes.find(({ entity }) => entity.urn === urn)
  const hidden = (start?.hiddenUpstream ?? 0) + (start?.hiddenDownstream ?? 0)
  const nameOf = (of: string): string => names.get(of) ?? of
  const link = (of: string, tab: 0 | -1) => (
    <a tabIndex={tab} href={assetAddress(of)} title={of}>
      {nameOf(of)}
    </a>
  )
  return (
    <div class="stack">
      {hidden > 0 && <p>{words.more(edges.length, edges.length + hidden)}</p>}
      <Table
        label={words.label}
        rows={rows}
        keyOf={({ key }) => key}
        sort={sort}
        onSort={setSort}
        columns={(
          [
            {
              id: 'upstream',
              head: words.upstream,
              value: ({ edge }) => nameOf(edge.upstreamUrn),
              cell: ({ edge }, tab) => link(edge.upstreamUrn, tab),
              width: 'minmax(140px, 2fr)'
            },
            {
              id: 'downstream',
              head: words.downstream,
              value: ({ edge }) => nameOf(edge.downstreamUrn),
              cell: ({ edge }, tab) => link(edge.downstreamUrn, tab),
              width: 'minmax(140px, 2fr)'
            },
            {
              id: 'source',
              head: words.source,
              value: ({ statement }) => statement.source,
              width: 'minmax(90px, 1fr)',
              fold: 5
            },
            {
              id: 'aspect',
              head: words.aspect,
              value: ({ statement }) => statement.aspect,
              width: 'minmax(120px, 1fr)',
              fold: 1
            },
            {
              id: 'actor',
              head: words.actor,
              value: ({ statement }) => lastPartOf(statement.provenance?.actor ?? ''),
              width: 'minmax(80px, 1fr)',
              fold: 2
            },
            {
              id: 'at',
              head: words.at,
              value: ({ statement }) => statement.provenance?.at ?? 0,
              cell: ({ statement }) => (statement.provenance ? whenText(statement.provenance.at) : ''),
              width: '150px',
              fold: 4
            },
            {
              id: 'used',
              head: words.lastUsed,
              value: ({ edge }) => edge.lastUsed ?? 0,
              cell: ({ edge }) => (edge.lastUsed === null ? '' : whenText(edge.lastUsed)),
              width: '150px',
              fold: 3
            },
            {
              id: 'load',
              head: words.load,
              value: ({ statement }) => statement.provenance?.loadId ?? '',
              cell: ({ statement }, tab) =>
                statement.provenance?.loadId ? (
                  <a tabIndex={tab} href={addressOf('loads', { id: statement.provenance.loadId })}>
                    {statement.provenance.loadId.slice(0, 8)}
                  </a>
                ) : (
                  ''
                ),
              width: '100px'
            }
          ] satisfies TableColumn<Row>[]
        ).filter(
          // What no statement has says nothing.
          ({ id, value }) => !['used', 'load'].includes(id) || rows.some((row) => value(row))
        )}
      />
    </div>
  )
}
