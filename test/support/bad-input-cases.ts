/** The shape of test/cases/bad-input.json, and the requests that its rows describe. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { expandValue, type LookUp } from './case-values.ts'
import type { RawRequest } from './raw-request.ts'

export type TokenName = 'write' | 'read' | 'none' | 'unknown' | 'badChecksum' | 'expired' | 'revoked'

export type Expectation = {
  status?: number
  statusIn?: number[]
  code?: string
  codeIn?: string[]
  field?: string
  urn?: string
  limit?: string
  maximum?: number
  actual?: number
  total?: number
  allowed?: string[]
  messageIncludes?: string[]
  sameMessageAs?: string
  locations?: boolean
  headers?: { [name: string]: string }
  data?: JsonObject
  body?: JsonObject
  exactly?: JsonObject
  matches?: { [path: string]: string }
  lengths?: { [path: string]: number }
  maxBytes?: number
  load?: JsonObject
  state?: string
  lastLoad?: string
  rejects?: { line: number; code: string }[]
  /** How many of the answers of `concurrently` have each outcome: `ok`, or a code. */
  tally?: { [outcome: string]: number }
}

export type Step = {
  token?: TokenName
  headers?: { [name: string]: JsonValue }
  graphql?: { document?: string; query?: JsonValue; variables?: JsonValue; operationName?: string }
  request?: {
    method: string
    path: JsonValue
    headers?: { [name: string]: JsonValue }
    body?: JsonValue
    text?: JsonValue
    lines?: JsonValue
    base64?: string
    gzip?: JsonValue
    chunked?: boolean
    abortAfterBytes?: number
  }
  expect: Expectation
}

export type Row = Step & {
  id: string
  title: string
  before?: Step | Step[]
  then?: Step[]
  changesNothing?: boolean
  mayChange?: 'load' | string[]
  concurrently?: number
  note?: string
}

export type CaseFile = {
  about: string[]
  names: { [name: string]: string }
  documents: { [name: string]: string }
  setup: JsonValue[]
  rows: Row[]
  notApplicable: { id: string; title: string; why: string }[]
}

export const readCases = (): CaseFile => {
  const cases: CaseFile = JSON.parse(readFileSync(packagePath('test/cases/bad-input.json'), 'utf8'))
  return cases
}

/** The expectation of a step, with `${name}` replaced by values. */
export const expectationOf = ({ expect }: Step, lookUp: LookUp): Expectation => {
  const written: JsonValue = JSON.parse(JSON.stringify(expect))
  const expanded: Expectation = JSON.parse(JSON.stringify(expandValue(written, lookUp)))
  return expanded
}

const asText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The request of a step, with the token it names. `lookUp` gives the values of `${name}`. */
export const requestOf = (
  step: Step,
  cases: CaseFile,
  tokenText: string | null,
  lookUp: LookUp
): RawRequest => {
  const expand = (value: JsonValue): JsonValue => expandValue(value, lookUp)
  const own = step.graphql ? graphqlRequest(step.graphql, cases) : step.request
  if (!own) throw new Error('a step has either graphql or request')
  const body = bodyOf(own, expand)
  const isJson = own.body !== undefined || step.graphql !== undefined
  const headers: { [name: string]: string | string[] } = {
    ...(isJson ? { 'content-type': 'application/json' } : {}),
    ...(tokenText === null ? {} : { authorization: `Bearer ${tokenText}` })
  }
  for (const [name, value] of Object.entries({ ...own.headers, ...step.headers })) {
    const expanded = expand(value)
    headers[name] = Array.isArray(expanded) ? expanded.map(String) : String(expanded)
  }
  return {
    method: own.method,
    path: asText(expand(own.path)),
    headers,
    ...(body ? { body } : {}),
    ...(own.chunked ? { isChunked: true } : {}),
    ...(own.abortAfterBytes === undefined ? {} : { abortAfterBytes: own.abortAfterBytes })
  }
}

const graphqlRequest = (
  { document, query, variables, operationName }: NonNullable<Step['graphql']>,
  cases: CaseFile
): NonNullable<Step['request']> => ({
  method: 'POST',
  path: '/api/graphql',
  body: {
    query: document ? (cases.documents[document] ?? null) : (query ?? null),
    ...(variables === undefined ? {} : { variables }),
    ...(operationName === undefined ? {} : { operationName })
  }
})

const bodyOf = (
  own: NonNullable<Step['request']>,
  expand: (value: JsonValue) => JsonValue
): Buffer | null => {
  if (own.body !== undefined) return Buffer.from(JSON.stringify(expand(own.body)))
  if (own.text !== undefined) return Buffer.from(asText(expand(own.text)))
  if (own.base64 !== undefined) return Buffer.from(own.base64, 'base64')
  if (own.gzip !== undefined) return gzipSync(asText(expand(own.gzip)), { level: 1 })
  if (own.lines !== undefined) return linesOf(expand(own.lines))
  return null
}

const linesOf = (lines: JsonValue): Buffer =>
  Buffer.concat((Array.isArray(lines) ? lines : []).flatMap((line) => [bytesOfLine(line), Buffer.from('\n')]))

const bytesOfLine = (line: JsonValue): Buffer => {
  const encoded = typeof line === 'object' && line !== null && !Array.isArray(line) ? line.$base64 : undefined
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : Buffer.from(asText(line))
}
