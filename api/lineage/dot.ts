/** An export as a digraph of Graphviz. Nodes are named by their URNs. */
import type { LineageExport } from '../../shared/catalog/lineage/export-lineage.ts'
import type { ExportEdge, ExportEntity } from '../../shared/catalog/lineage/export-rows.ts'
import { diagramOf, kindOf, onOneLine, type DiagramLanguage } from './diagram.ts'

/** Backslashes are doubled, because one at the end of a text would escape the quotation mark. */
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

/** In labels, Graphviz also reads HTML entities. */
const labelText = (text: string): string =>
  onOneLine(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;')

const language: DiagramLanguage = {
  comment: '//',
  head: 'digraph lineage {\n  rankdir=LR;\n  node [shape=box];\n',
  node: (entity: ExportEntity) =>
    `  ${quoted(entity.urn)} [label="${labelText(entity.name)}\\n${labelText(kindOf(entity))}"${looksOf(entity)}];\n`,
  edge: ({ upstream, downstream }: ExportEdge) => `  ${quoted(upstream)} -> ${quoted(downstream)};\n`,
  tail: '}\n'
}

const looksOf = ({ degree, exists }: ExportEntity): string =>
  `${degree === 0 ? ', peripheries=2' : ''}${exists ? '' : ', style=dashed'}`

export const dotOf = (found: LineageExport): AsyncGenerator<string> => diagramOf(found, language)
