/**
 * What an event reports about its run: why it failed, which checks of data failed, and how much it read and wrote.
 * Everything is cut to what a page shows; the stored event has the rest.
 *
 * Facets: errorMessage and test of the run; outputStatistics, inputStatistics and dataQualityAssertions of its
 * datasets; greatExpectations_assertions of Great Expectations.
 */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import type { Urn } from '../../urn/urn.ts'
import type { EventDataset, OpenLineageEvent } from '../event.ts'

export type RunError = { message: string; stackTrace: string | null; language: string | null }
/** Null for a number that the event does not state. */
export type Amount = { rows: number | null; bytes: number | null; files: number | null }
export type FailedCheck = {
  name: string
  column: string | null
  severity: string | null
  message: string | null
}
/** `failed` has the first of the failed ones. */
export type Checks = { total: number; failedTotal: number; failed: FailedCheck[] }

/** By dataset; the checks that name none are under an empty text. */
export type RunReport = {
  error: RunError | null
  written: [Urn, Amount][]
  read: [Urn, Amount][]
  checks: [Urn | '', Checks][]
}

const messageMaxChars = 4_000
const stackMaxChars = 16_000
const nameMaxChars = 500
const failedShownCount = 20

export function reportOfRun(
  { run, inputs, outputs }: Extract<OpenLineageEvent, { kind: 'run' }>,
  urnOf: (dataset: EventDataset) => Urn
): RunReport {
  const ofRun = checksIn(listOf(isObject(run.facets.test) ? run.facets.test.tests : undefined))
  return {
    error: errorOf(run.facets.errorMessage),
    written: amountsOf(outputs, 'outputStatistics', urnOf),
    read: amountsOf(inputs, 'inputStatistics', urnOf),
    checks: [
      ...(ofRun ? [['', ofRun] satisfies [Urn | '', Checks]] : []),
      ...[...inputs, ...outputs].flatMap((dataset): [Urn, Checks][] => {
        const found = checksIn([
          ...assertionsOf(dataset, 'dataQualityAssertions'),
          ...assertionsOf(dataset, 'greatExpectations_assertions')
        ])
        return found ? [[urnOf(dataset), found]] : []
      })
    ]
  }
}

/** A text that is not longer than allowed; null for any other value and an empty text. */
export function shortText(value: JsonValue | undefined, maxChars: number): string | null {
  if (typeof value !== 'string') return null
  const text = value.trim()
  if (text === '') return null
  return (text.length > maxChars ? `${text.slice(0, maxChars)}…` : text).toWellFormed()
}

function errorOf(facet: JsonValue | undefined): RunError | null {
  const message = isObject(facet) ? shortText(facet.message, messageMaxChars) : null
  if (!isObject(facet) || message === null) return null
  return {
    message,
    stackTrace: shortText(facet.stackTrace, stackMaxChars),
    language: shortText(facet.programmingLanguage, nameMaxChars)
  }
}

const amountsOf = (
  datasets: readonly EventDataset[],
  facetName: string,
  urnOf: (dataset: EventDataset) => Urn
): [Urn, Amount][] =>
  datasets.flatMap((dataset): [Urn, Amount][] => {
    const facet = facetOf(dataset, facetName)
    if (!isObject(facet)) return []
    const amount = {
      rows: countOf(facet.rowCount),
      bytes: countOf(facet.size),
      files: countOf(facet.fileCount)
    }
    return Object.values(amount).every((each) => each === null) ? [] : [[urnOf(dataset), amount]]
  })

const countOf = (value: JsonValue | undefined): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null

/** Where the specification has it, or among the facets of the dataset, where some producers put it. */
const facetOf = ({ facets, useFacets }: EventDataset, name: string): JsonValue | undefined =>
  useFacets[name] ?? facets[name]

function assertionsOf(dataset: EventDataset, name: string): JsonValue[] {
  const facet = facetOf(dataset, name)
  return listOf(isObject(facet) ? facet.assertions : undefined)
}

/** Null without any check. */
function checksIn(sent: readonly JsonValue[]): Checks | null {
  const all = sent.filter(isObject)
  if (all.length === 0) return null
  const failed = all.filter(hasFailed)
  return {
    total: all.length,
    failedTotal: failed.length,
    failed: failed.slice(0, failedShownCount).map((check) => ({
      name: shortText(check.assertion ?? check.name ?? check.expectationType, nameMaxChars) ?? 'unnamed',
      column: shortText(check.column ?? check.columnId, nameMaxChars),
      severity: shortText(check.severity, nameMaxChars),
      message: shortText(check.description, nameMaxChars)
    }))
  }
}

const hasFailed = ({ success, status }: JsonObject): boolean =>
  success === false || (typeof status === 'string' && /^(fail|failed|error)$/i.test(status))
