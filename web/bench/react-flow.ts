/**
 * The lineage view drawn by React Flow, for the benchmark: the same answer, the same layout, cards with the
 * same texts and rows. It is not part of the product.
 */
import { Handle, Position, ReactFlow, type Edge, type Node, type NodeProps } from '@xyflow/react'
import { createElement, useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { lineageGraph } from '../src/api/lineage-queries.ts'
import { answerOf } from '../src/graph/answer.ts'
import { factsOf } from '../src/graph/labels.ts'
import { questionOf, stateOf } from '../src/graph/model.ts'
import { pictureOf, type CardItem } from '../src/graph/picture.ts'
import { sceneOf, sizes } from '../src/graph/scene.ts'
import '@xyflow/react/dist/style.css'

type CardNode = Node<{ item: CardItem }, 'card'>

const cardStyle = {
  background: 'white',
  border: '1px solid #ccd',
  borderRadius: 8,
  fontSize: 12,
  width: sizes.width
}

function Card({ data: { item } }: NodeProps<CardNode>) {
  const { node, rows } = item
  return createElement(
    'div',
    { style: cardStyle, 'data-node': item.id },
    createElement(Handle, { type: 'target', position: Position.Left }),
    createElement(
      'div',
      { style: { height: sizes.header, padding: '6px 14px', boxSizing: 'border-box' } },
      createElement('b', null, node.card.name),
      createElement('span', { style: { float: 'right' } }, node.degree),
      createElement('div', null, factsOf(node))
    ),
    rows.map((row) =>
      createElement(
        'div',
        {
          key: row.path,
          style: { height: sizes.row, padding: '0 14px', position: 'relative' },
          'data-col': row.urn
        },
        createElement(Handle, { type: 'target', position: Position.Left, id: `in ${row.urn}` }),
        row.path,
        createElement('span', { style: { float: 'right' } }, row.dataType),
        createElement(Handle, { type: 'source', position: Position.Right, id: `out ${row.urn}` })
      )
    ),
    createElement(Handle, { type: 'source', position: Position.Right })
  )
}

const nodeTypes = { card: Card }

function Drawing({ nodes, edges }: { nodes: CardNode[]; edges: Edge[] }) {
  useEffect(() => {
    requestAnimationFrame(() => {
      setTimeout(() => performance.mark('graph:paint'))
    })
  }, [])
  return createElement(ReactFlow<CardNode>, {
    nodes,
    edges,
    nodeTypes,
    minZoom: 0.02,
    onlyRenderVisibleElements: new URLSearchParams(location.search).get('culled') === '1',
    defaultViewport: { x: 48, y: innerHeight / 2, zoom: 0.85 }
  })
}

const state = stateOf(location.search)
const input = questionOf(state)
const response = await fetch('./api/graphql', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query: lineageGraph.text, variables: { input, columns: input.columns } })
})
const { data } = (await response.json()) as { data: { lineageGraph: Parameters<typeof answerOf>[0] } }
const picture = pictureOf(answerOf(data.lineageGraph, { hidesJobs: false }), state)
const scene = sceneOf(picture, null, null)
// The start is at the same place as in the first view of our own drawing.
const start = scene.items[0]?.box ?? { x: 0, y: 0 }
const nodes = scene.items.flatMap(({ item, box }): CardNode[] =>
  item.kind === 'card'
    ? [{ id: item.id, type: 'card', position: { x: box.x - start.x, y: box.y - start.y }, data: { item } }]
    : []
)
const edges: Edge[] = [
  ...picture.edges.map(({ id, from, to }) => ({ id, source: from, target: to })),
  ...picture.columnEdges.map(({ id, from, to, fromCard, toCard }) => ({
    id,
    source: fromCard,
    target: toCard,
    sourceHandle: `out ${from}`,
    targetHandle: `in ${to}`
  }))
]
const root = document.getElementById('root')
if (root) createRoot(root).render(createElement(Drawing, { nodes, edges }))
