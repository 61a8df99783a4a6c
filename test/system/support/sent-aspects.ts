/**
 * The contents of connectors' files: their proposals and legacy snapshots as a flat list of aspects. Shares
 * no code with the product.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject, JsonValue } from '../../../shared/model/changes.ts'
import { packagePath } from '../../../shared/platform/paths.ts'
import { isJsonObject } from '../../support/json-answer.ts'

export type SentAspect = { urn: string; aspectName: string; value: JsonValue; isPatch: boolean }

/** The folder with the files of connectors, or null if this machine has none. */
export function connectorFolder(): string | null {
  const given = process.env.TRIBUTARY_TEST_DATA
  const folder = given ? join(given, 'mcp') : packagePath('../shared/data/mcp')
  return existsSync(folder) ? folder : null
}

export function readSentAspects(path: string): SentAspect[] {
  const elements: JsonValue = JSON.parse(readFileSync(path, 'utf8'))
  if (!Array.isArray(elements)) throw new Error(`${path} holds no list`)
  return sentAspects(elements)
}

/** `elements` are proposals and snapshots, as in a file. */
export function sentAspects(elements: readonly JsonValue[]): SentAspect[] {
  return elements
    .filter(isJsonObject)
    .flatMap((element) =>
      isJsonObject(element.proposedSnapshot) ? ofSnapshot(element.proposedSnapshot) : ofProposal(element)
    )
}

function ofProposal({ entityUrn, aspectName, changeType, aspect }: JsonObject): SentAspect[] {
  // an entity that is named only by a key is checked by the test that sends it
  if (typeof entityUrn !== 'string' || !isJsonObject(aspect)) return []
  const value = typeof aspect.value === 'string' ? parse(aspect.value) : (aspect.json ?? null)
  return [{ urn: entityUrn, aspectName: String(aspectName), value, isPatch: changeType === 'PATCH' }]
}

function ofSnapshot(snapshot: JsonObject): SentAspect[] {
  const [content] = Object.values(snapshot)
  if (!isJsonObject(content) || !Array.isArray(content.aspects)) throw new Error('a snapshot without aspects')
  const urn = String(content.urn)
  return content.aspects
    .filter(isJsonObject)
    .flatMap(Object.entries)
    .map(([className, value]: [string, JsonValue]) => ({
      urn,
      aspectName: nameOfClass(className),
      value,
      isPatch: false
    }))
}

/** `com.linkedin.pegasus2avro.dataset.UpstreamLineage`: upstreamLineage. */
function nameOfClass(className: string): string {
  const name = className.slice(className.lastIndexOf('.') + 1)
  return irregularNames[name] ?? name.charAt(0).toLowerCase() + name.slice(1)
}

const irregularNames: { [className: string]: string } = {
  MLModelProperties: 'mlModelProperties',
  MLFeatureProperties: 'mlFeatureProperties',
  MLPrimaryKeyProperties: 'mlPrimaryKeyProperties',
  MLFeatureTableProperties: 'mlFeatureTableProperties',
  TrainingData: 'mlModelTrainingData',
  Metrics: 'mlModelMetrics',
  CaveatsAndRecommendations: 'mlModelCaveatsAndRecommendations'
}

function parse(text: string): JsonValue {
  const value: JsonValue = JSON.parse(text)
  return value
}
