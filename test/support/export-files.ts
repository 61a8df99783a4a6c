/**
 * Parses exports with separate parsers for the tests: CSV, NDJSON, Graphviz, Mermaid. Throws if a file is not
 * well formed.
 */

/** Rows of cells by strict RFC 4180: CRLF ends a row, a quoted cell may contain anything. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const [cell, next] = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at)
    row.push(cell)
    at = next
    if (text[at] === ',') {
      at += 1
      // A comma before the end of a row: one more cell, which is empty.
      if (text.startsWith('\r\n', at)) row.push('')
    }
    if (text.startsWith('\r\n', at)) {
      rows.push(row)
      row = []
      at += 2
    } else if (at >= text.length) throw new Error('the last row does not end')
  }
  return rows
}

function quotedCell(text: string, begin: number): [string, number] {
  let cell = ''
  for (let at = begin + 1; at < text.length; at += 1) {
    if (text[at] !== '"') cell += text[at]
    else if (text[at + 1] === '"') {
      cell += '"'
      at += 1
    } else if (text[at + 1] === ',' || text.startsWith('\r\n', at + 1)) return [cell, at + 1]
    else throw new Error(`what follows a closing quote at ${at} is no end of a cell`)
  }
  throw new Error(`the quote at ${begin} is not closed`)
}

function plainCell(text: string, begin: number): [string, number] {
  const [cell = ''] = /^[^,"\r\n]*/.exec(text.slice(begin, begin + 100_000)) ?? []
  const next = begin + cell.length
  if (text[next] !== ',' && !text.startsWith('\r\n', next))
    throw new Error(`a cell at ${begin} holds what must be quoted`)
  return [cell, next]
}

/** Objects by the names in the header row. */
export function csvRecords(text: string): { [name: string]: string }[] {
  const [header = [], ...rows] = parseCsv(text)
  return rows.map((row) => {
    if (row.length !== header.length)
      throw new Error(`a row has ${row.length} cells, the header ${header.length}`)
    return Object.fromEntries(header.map((name, index) => [name, row[index] ?? '']))
  })
}

export type ExportLine = {
  urn: string
  degree: number
  type: string
  name: string
  platform: string | null
  environment: string | null
  domain: string | null
  exists: boolean
  owners: readonly string[]
}
export type EdgeLine = { upstream: string; downstream: string; degree: number }

/** Every line must be an object, and must have an end. */
export function ndjsonLines<Line = ExportLine>(text: string): Line[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line does not end')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line): Line => JSON.parse(line))
}

export type Diagram = { nodes: Map<string, string>; edges: [string, string][]; comments: string[] }

const dotText = String.raw`"((?:[^"\\]|\\.)*)"`
const dotNode = new RegExp(`^${dotText} \\[label=${dotText}(?:, \\w+=\\w+)*\\];$`)
const dotEdge = new RegExp(`^${dotText} -> ${dotText};$`)
const dotUnescaped = (text: string): string =>
  text
    .replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
    .replaceAll('&amp;', '&')

/** URN to label, and edges by URN. Reads line by line, because no label may contain a line end. */
export function parseDot(text: string): Diagram {
  const diagram: Diagram = { nodes: new Map(), edges: [], comments: [] }
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.trim())
  const body = lines.filter((line) => {
    if (line.startsWith('//')) diagram.comments.push(line)
    return !line.startsWith('//')
  })
  if (body[0] !== 'digraph lineage {' || body.at(-1) !== '}') throw new Error('this is no whole digraph')
  for (const line of body.slice(1, -1)) {
    const [, urn, label] = dotNode.exec(line) ?? []
    const [, upstream, downstream] = dotEdge.exec(line) ?? []
    if (urn !== undefined && label !== undefined) diagram.nodes.set(dotUnescaped(urn), dotUnescaped(label))
    else if (upstream !== undefined && downstream !== undefined)
      diagram.edges.push([dotUnescaped(upstream), dotUnescaped(downstream)])
    else if (!/^(?:rankdir=LR|node \[shape=box\]);$/.test(line))
      throw new Error(`this is no statement: ${line}`)
  }
  return diagram
}

/** Id to label, and edges by id. */
export function parseMermaid(text: string): Diagram {
  const diagram: Diagram = { nodes: new Map(), edges: [], comments: [] }
  const [first, head, ...lines] = text.split('\n').slice(0, -1)
  if (!first?.startsWith('%% ') || head !== 'flowchart LR') throw new Error('this is no flowchart')
  diagram.comments.push(first)
  for (const line of lines) {
    const [, id, label] = /^ {2}(n\d+)\["([^"`{}<>\\]*<br\/>[^"`{}<>\\]*)"\](?::::\w+)?$/.exec(line) ?? []
    const [, upstream, downstream] = /^ {2}(n\d+) --> (n\d+)$/.exec(line) ?? []
    if (id !== undefined && label !== undefined)
      diagram.nodes.set(
        id,
        label
          .replace('<br/>', '\n')
          .replaceAll(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
      )
    else if (upstream !== undefined && downstream !== undefined) diagram.edges.push([upstream, downstream])
    else if (line.startsWith('%% ')) diagram.comments.push(line)
    else if (!line.startsWith('  classDef ')) throw new Error(`this is no statement: ${line}`)
  }
  return diagram
}
