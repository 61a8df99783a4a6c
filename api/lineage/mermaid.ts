/** An export as a flowchart of Mermaid. Nodes are named by their ids, and show what their entities are called. */
import type { LineageExport } from '../../shared/catalog/lineage/export-lineage.ts'
import type { ExportEdge, ExportEntity } from '../../shared/catalog/lineage/export-rows.ts'
import { diagramOf, kindOf, onOneLine, type DiagramLanguage } from './diagram.ts'

/**
 * What could end the label, begin a directive, or be read as HTML or Markdown (of underscores: those at the edge of a word;
 * in front: what makes a list) is written as the number of its character.
 */
const special = /["#%&<>`\\{}*~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|^[-+]|(?<=^\d+)[.)]/gu

const labelText = (text: string): string =>
  onOneLine(text).replaceAll(special, (character) => `#${character.codePointAt(0)};`)

const language: DiagramLanguage = {
  comment: '%%',
  head: 'flowchart LR\n  classDef origin stroke-width:3px\n  classDef absent stroke-dasharray:4\n',
  node: (entity: ExportEntity) =>
    `  n${entity.id}["${labelText(entity.name)}<br/>${labelText(kindOf(entity))}"]${looksOf(entity)}\n`,
  edge: ({ upstreamId, downstreamId }: ExportEdge) => `  n${upstreamId} --> n${downstreamId}\n`,
  tail: ''
}

/** A node takes one class at its definition; that a start is absent is told by the class of what is absent. */
const looksOf = ({ degree, exists }: ExportEntity): string =>
  !exists ? ':::absent' : degree === 0 ? ':::origin' : ''

export const mermaidOf = (found: LineageExport): AsyncGenerator<string> => diagramOf(found, language)
