/**
 * An export as a flowchart of Mermaid. Nodes are identified by their ids, and show the names of their
 * entities.
 */
import type { LineageExport } from '../../shared/catalog/lineage/export-lineage.ts'
import type { ExportEdge, ExportEntity } from '../../shared/catalog/lineage/export-rows.ts'
import { diagramOf, kindOf, onOneLine, type DiagramLanguage } from './diagram.ts'

/**
 * Characters that could end the label, begin a directive, or be read as HTML or Markdown are written as their
 * number. These include underscores at the edge of a word, and whatever starts a list at the beginning of the
 * label.
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

/** A node can only have one class, so an absent start looks absent. */
const looksOf = ({ degree, exists }: ExportEntity): string =>
  !exists ? ':::absent' : degree === 0 ? ':::origin' : ''

export const mermaidOf = (found: LineageExport): AsyncGenerator<string> => diagramOf(found, language)
