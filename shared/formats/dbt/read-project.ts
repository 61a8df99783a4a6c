/**
 * Reads the records of a load from the documents of a dbt project: `manifest.json`, then optionally
 * `catalog.json` and `run_results.json`.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { recordParser } from '../parse-record.ts'
import { readText, type NamingRecord, type SingleRecord } from '../read-text.ts'
import { splitMembers } from '../split-members.ts'
import { ofNode } from './node-record.ts'
import type { DbtReading } from './options.ts'
import { assetsOf } from './project-assets.ts'
import { nothingRead, readColumns, unpackEdges } from './read-columns.ts'
import { nothingKept, nothingStored, readKept, readStored, type ColumnEdge } from './stored-project.ts'
import { warningsOfSql } from './sql-warnings.ts'
import { warningsOf } from './warnings.ts'
import { gatherProject, projectName, wantedOfArtifacts } from './project.ts'
import { recordsOfProject, type ProjectRecord } from './records-of-project.ts'

/** `source` is the name under which the project states its lineage. */
export type OpenedProject = {
  source: string
  records: AsyncGenerator<(SingleRecord | NamingRecord)[]>
  /** What the load cannot use of the project. */
  warnings: string[]
}

/**
 * Reads the whole body, because the upstreams of a node may follow it. Keeps only the needed parts of each
 * node, at most dbtProjectMaxBytes. Throws BAD_REQUEST if the body is not JSON or has no manifest, or if
 * neither it nor the options name the platform; UNSUPPORTED for an unknown version; LIMIT_EXCEEDED
 * (dbtProjectMaxBytes); UNAVAILABLE as readStored does; what readSql throws; and the errors of the source of the bytes.
 */
export async function openProject(
  chunks: AsyncIterable<Buffer>,
  options: DbtReading
): Promise<OpenedProject> {
  const gatherer = gatherProject()
  for await (const pieces of splitMembers(chunks, wantedOfArtifacts))
    for (const piece of pieces) gatherer.add(piece)
  const project = gatherer.end()
  const name = projectName(project)
  if (name === null)
    throw new CatalogError(
      'BAD_REQUEST',
      'The manifest names no project: metadata.project_name and metadata.project_id are missing',
      { field: 'metadata.project_name' }
    )
  const source = `dbt:${name}`
  const assets = assetsOf(project, options)
  const { aspects, columns } = options.stored
    ? await readStored(options.stored, { source, project, assets })
    : nothingStored
  const read = options.readSql
    ? await readColumns({ project, assets, storedColumns: columns, readSql: options.readSql })
    : nothingRead
  const kept = options.stored
    ? await readKept(options.stored, {
        source,
        project,
        assets,
        aspects,
        wasRead: (id) => read.edges.has(id)
      })
    : nothingKept
  const columnEdges = (id: string): readonly ColumnEdge[] => {
    const packed = read.edges.get(id)
    return packed ? unpackEdges(packed) : (kept.edges.get(id) ?? [])
  }
  return {
    source,
    records: inPieces(recordsOfProject(project, { assets, options, aspects, columnEdges })),
    warnings: [...warningsOf(project), ...warningsOfSql(project, read, kept)]
  }
}

/** How many records are made before other work gets a turn. */
const recordsAtOnce = 20

async function* inPieces(records: Generator<ProjectRecord>): AsyncGenerator<(SingleRecord | NamingRecord)[]> {
  let line = 0
  let piece: (SingleRecord | NamingRecord)[] = []
  for (const record of records) {
    line += 1
    piece.push(readRecord(record, line))
    if (piece.length === recordsAtOnce) {
      yield piece
      piece = []
    }
  }
  if (piece.length > 0) yield piece
}

const parser = recordParser({ format: 'dbt', header: null })

function readRecord(made: ProjectRecord, line: number): SingleRecord | NamingRecord {
  if ('error' in made) {
    const { node, error } = made
    return {
      line,
      text: JSON.stringify({ node }),
      error: new CatalogError(error.code, ofNode(node, error.message), error.details, { cause: error })
    }
  }
  const text = JSON.stringify(made)
  const actual = Buffer.byteLength(text)
  const maximum = limits.recordMaxBytes
  if (actual <= maximum) return readText({ parser, readPlainEdge: null }, text, line)
  const error = new CatalogError(
    'LIMIT_EXCEEDED',
    ofNode(made.node, `The content of the node has ${actual} bytes; at most ${maximum} are allowed`),
    { line, limit: 'recordMaxBytes', maximum, actual }
  )
  return { line, text, error }
}
