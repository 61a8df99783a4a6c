/**
 * Gathers a dbt project from its documents as they stream in: the manifest and, if sent, the catalog and run
 * results.
 */
import { createHash } from 'node:crypto'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject } from '../../model/json-values.ts'
import type { Member, SplitPiece, WantedMembers } from '../split-members.ts'
import { artifactOf, type ArtifactKind } from './artifact.ts'
import type { StatedSql } from './compiled-sql.ts'
import { pickNode, resourceTypeOf, type NodeDetails, type NodeKind, type PickedColumn } from './pick-node.ts'
import { objectOf, textOf } from './read-fields.ts'

/**
 * A node as it is kept until the whole project is known. `details` is JSON, which takes a third of the memory
 * of objects.
 */
export type KeptNode = {
  kind: NodeKind
  path: string[]
  relationName: string | null
  dependsOn: string[]
  details: string
  sql: StatedSql | null
}

export type RunResult = { status: string | null; endedAt: string | null }

export type DbtProject = {
  /** The metadata of the manifest. */
  metadata: JsonObject
  nodes: ReadonlyMap<string, KeptNode>
  /** The nodes that could not be read, with the reason. */
  faults: ReadonlyMap<string, CatalogError>
  /** The columns in the catalog by node id, as JSON. */
  catalogColumns: ReadonlyMap<string, string>
  results: ReadonlyMap<string, RunResult>
  /** The ids of nodes that a load leaves out, each with its type: tests, hooks, disabled nodes. */
  leftOut: ReadonlyMap<string, string>
  /** What may be wrong with the documents. */
  warnings: readonly string[]
}

export const wantedOfArtifacts: WantedMembers = {
  whole: new Set(['metadata', 'args']),
  opened: new Set([
    'nodes',
    'sources',
    'exposures',
    'metrics',
    'semantic_models',
    'saved_queries',
    'unit_tests',
    'functions',
    'results'
  ])
}

/** The memory that the objects of a node take in addition to its text. */
const nodeOverheadBytes = 512

export type ProjectGatherer = {
  /**
   * Throws what artifactOf throws, BAD_REQUEST for two artifacts of the same kind, and LIMIT_EXCEEDED
   * (dbtProjectMaxBytes).
   */
  add: (piece: SplitPiece) => void
  /** Throws BAD_REQUEST if there was no manifest. */
  end: () => DbtProject
}

export function gatherProject(): ProjectGatherer {
  let document = emptyDocument()
  const documents = new Map<ArtifactKind, Document>()
  const warnings: string[] = []
  let keptBytes = 0

  function count(bytes: number): void {
    keptBytes += bytes + nodeOverheadBytes
    const maximum = limits.dbtProjectMaxBytes
    if (keptBytes > maximum)
      throw new CatalogError(
        'LIMIT_EXCEEDED',
        `The project is too large: the parts of its nodes that are needed take more than ${maximum} bytes`,
        { limit: 'dbtProjectMaxBytes', maximum }
      )
  }

  return {
    add(piece) {
      if (piece !== 'end') {
        count(addMember(document, piece))
        return
      }
      const { kind, warning } = artifactOf(document.metadata)
      if (warning !== null) warnings.push(warning)
      if (documents.has(kind))
        throw new CatalogError('BAD_REQUEST', `The body has two artifacts of the kind ${kind}; send one`)
      documents.set(kind, document)
      document = emptyDocument()
    },
    end() {
      const manifest = documents.get('manifest')
      if (!manifest)
        throw new CatalogError(
          'BAD_REQUEST',
          'The body has no manifest; catalog.json and run_results.json are sent beside manifest.json'
        )
      return {
        metadata: objectOf(manifest.metadata),
        nodes: manifest.nodes,
        faults: manifest.faults,
        catalogColumns: documents.get('catalog')?.columns ?? new Map(),
        results: resultsOf(documents.get('run-results')),
        leftOut: manifest.leftOut,
        warnings
      }
    }
  }
}

/**
 * Commands that write run results without building anything: in these, `success` means only that the SQL
 * compiles. `generate` is `dbt docs generate`.
 */
const commandsThatBuildNothing: ReadonlySet<string> = new Set([
  'compile',
  'generate',
  'list',
  'parse',
  'show'
])

const resultsOf = (document: Document | undefined): ReadonlyMap<string, RunResult> =>
  !document || commandsThatBuildNothing.has(textOf(objectOf(document.args).which) ?? '')
    ? new Map()
    : document.results

/**
 * The parts of a document that have arrived. Only its end decides which artifact it is, because `metadata`
 * may be anywhere in it.
 */
type Document = {
  metadata?: JsonValue
  /** The arguments of the command that wrote run results. */
  args?: JsonValue
  nodes: Map<string, KeptNode>
  faults: Map<string, CatalogError>
  columns: Map<string, string>
  results: Map<string, RunResult>
  leftOut: Map<string, string>
}

const emptyDocument = (): Document => ({
  nodes: new Map(),
  faults: new Map(),
  columns: new Map(),
  results: new Map(),
  leftOut: new Map()
})

/** Returns the number of bytes kept of the member. */
function addMember(document: Document, { section, key, value }: Member): number {
  if (value.fault && key !== null) {
    document.faults.set(key, value.fault)
    return value.fault.message.length
  }
  if (value.fault) throw value.fault
  const parsed = parse(value.text, key === null ? section : `${section}.${key}`)
  if (section === 'metadata' || section === 'args') {
    document[section] = parsed
    return value.text.length
  }
  if (section === 'results') return addResult(document, parsed)
  if (key === null) return 0
  if (isObject(parsed) && isObject(parsed.metadata) && parsed.resource_type === undefined) {
    const columns = JSON.stringify(catalogColumnsOf(parsed.columns))
    document.columns.set(key, columns)
    return columns.length
  }
  return addNode(document, key, parsed)
}

function addNode({ nodes, faults, leftOut }: Document, id: string, parsed: JsonValue): number {
  try {
    const picked = pickNode(id, parsed)
    if (!picked) {
      const isDisabled = objectOf(objectOf(parsed).config).enabled === false
      leftOut.set(id, isDisabled ? 'disabled' : resourceTypeOf(id, objectOf(parsed)))
      return id.length
    }
    const details = JSON.stringify(picked.details)
    nodes.set(id, { ...picked, details })
    return (
      details.length +
      (picked.relationName?.length ?? 0) +
      (picked.sql?.text?.byteLength ?? 0) +
      picked.dependsOn.reduce((sum, each) => sum + each.length, 0)
    )
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    faults.set(id, error)
    return error.message.length
  }
}

function addResult({ results }: Document, parsed: JsonValue): number {
  const result = objectOf(parsed)
  const id = textOf(result.unique_id)
  if (id === null) return 0
  const timing = Array.isArray(result.timing) ? result.timing : []
  const endedAt = timing.reduce<string | null>(
    (latest, each) => textOf(objectOf(each).completed_at) ?? latest,
    null
  )
  results.set(id, { status: textOf(result.status), endedAt })
  return id.length
}

function catalogColumnsOf(columns: JsonValue | undefined): PickedColumn[] {
  return Object.values(objectOf(columns))
    .map(objectOf)
    .sort((a, b) => Number(a.index ?? 0) - Number(b.index ?? 0))
    .flatMap((column) => {
      const name = textOf(column.name)
      return name === null ? [] : [{ name, type: textOf(column.type), description: textOf(column.comment) }]
    })
}

function parse(text: string, place: string): JsonValue {
  try {
    // Safe: JSON.parse returns only JSON values.
    return JSON.parse(text) as JsonValue
  } catch (cause) {
    throw new CatalogError('BAD_REQUEST', `${place.slice(0, 500)} is not JSON`, {}, { cause })
  }
}

/** Safe: pickNode made this text. */
export const detailsOf = ({ details }: KeptNode): NodeDetails => JSON.parse(details) as NodeDetails

/** Safe: catalogColumnsOf made this text. */
export const columnsFrom = (text: string): PickedColumn[] => JSON.parse(text) as PickedColumn[]

/**
 * The name of the project; null if it has none. Manifests before v9 only have the MD5 digest of the name. The
 * name is then the package with this digest, or the digest itself if no package has it.
 */
export function projectName({ metadata, nodes }: DbtProject): string | null {
  const name = textOf(metadata.project_name)
  const id = textOf(metadata.project_id)
  if (name !== null || id === null) return name
  const packages = new Set([...nodes.values()].map((node) => detailsOf(node).packageName ?? ''))
  return [...packages].find((each) => createHash('md5').update(each).digest('hex') === id) ?? id
}
