/** Compares an answer with the expectation in a row of a case file. */
import type { Test } from 'tap'
import { errorCodes } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import type { Expectation } from './bad-input-cases.ts'
import { isJsonObject, pick, valueAt } from './json-answer.ts'
import type { RawAnswer } from './raw-request.ts'

export type Answer = RawAnswer & { json: JsonValue }

/** The error of an answer, from `errors[0].extensions` or from the body itself. */
export type Fault = { code: string | null; message: string; details: JsonObject }

export const faultOf = (json: JsonValue): Fault | null => {
  const first = valueAt(json, 'errors.0')
  if (isJsonObject(first)) {
    const extensions = isJsonObject(first.extensions) ? first.extensions : {}
    return {
      code: typeof extensions.reason === 'string' ? extensions.reason : null,
      message: String(first.message),
      details: { ...extensions, locations: first.locations ?? null }
    }
  }
  if (
    !isJsonObject(json) ||
    json.message === undefined ||
    json.data !== undefined ||
    json.state !== undefined
  )
    return null
  return {
    code: typeof json.code === 'string' ? json.code : null,
    message: String(json.message),
    details: json
  }
}

const details = ['field', 'urn', 'limit', 'maximum', 'actual', 'total'] as const

export const checkAnswer = (
  t: Test,
  answer: Answer,
  expect: Expectation,
  { isGraphql, messages }: { isGraphql: boolean; messages: Map<string, string> }
): void => {
  const fault = faultOf(answer.json)
  const show = { found: answer.text.slice(0, 2000) }
  if (expect.statusIn) t.ok(expect.statusIn.includes(answer.status), `status ${answer.status}`, show)
  else if (answer.status !== 0) t.equal(answer.status, expect.status ?? 200, 'status', show)
  t.not(fault?.code, 'INTERNAL', 'no fault of ours', show)

  if (expect.code) checkCode(t, fault, expect.code, isGraphql && answer.status === 200, show)
  else if (expect.codeIn) t.ok(expect.codeIn.includes(fault?.code ?? ''), `code ${fault?.code}`, show)
  else if (!expect.status || expect.status < 400)
    t.equal(expect.statusIn ? null : fault, null, 'no error', show)

  for (const name of details)
    if (expect[name] !== undefined) t.equal(fault?.details[name], expect[name], name, show)
  if (expect.allowed)
    t.ok(
      expect.allowed.every((value) => [fault?.details.allowed ?? []].flat().includes(value)),
      'the allowed values are listed',
      show
    )
  for (const part of expect.messageIncludes ?? [])
    t.ok(fault?.message.includes(part), `the message names ${part}`, show)
  if (expect.sameMessageAs) t.equal(fault?.message, messages.get(expect.sameMessageAs), 'the same words')
  if (expect.locations) t.ok(Array.isArray(fault?.details.locations), 'locations', show)
  checkBody(t, answer, expect)
}

const checkCode = (t: Test, fault: Fault | null, code: string, isInGraphql: boolean, show: object): void => {
  t.equal(fault?.code, code, 'code', show)
  const facts = Object.entries(errorCodes).find(([name]) => name === code)?.[1]
  if (isInGraphql) t.equal(fault?.details.type, facts?.type, 'type', show)
}

const checkBody = (t: Test, { json, text, headers }: Answer, expect: Expectation): void => {
  if (expect.data)
    t.strictSame(pick(valueAt(json, 'data'), expect.data), expect.data, 'data', {
      found: text.slice(0, 2000)
    })
  if (expect.body) t.strictSame(pick(json, expect.body), expect.body, 'body')
  if (expect.exactly) t.strictSame(json, expect.exactly, 'the whole body')
  for (const [path, pattern] of Object.entries(expect.matches ?? {})) {
    const found = valueAt(json, path)
    t.match(typeof found === 'object' ? JSON.stringify(found) : String(found), new RegExp(pattern), path)
  }
  for (const [path, length] of Object.entries(expect.lengths ?? {})) {
    const found = valueAt(json, path)
    t.equal(Array.isArray(found) ? found.length : undefined, length, `length of ${path}`, {
      found: text.slice(0, 2000)
    })
  }
  for (const [name, value] of Object.entries(expect.headers ?? {})) {
    if (value.startsWith('/')) t.match(headers[name] ?? '', new RegExp(value.slice(1, -1)), name)
    else t.equal(headers[name], value, name)
  }
  if (expect.maxBytes) t.ok(Buffer.byteLength(text) <= expect.maxBytes, `${Buffer.byteLength(text)} bytes`)
  if (expect.load)
    t.strictSame(valueAt(json, 'counts'), expect.load, 'counts', { found: text.slice(0, 2000) })
  if (expect.state) t.equal(valueAt(json, 'state'), expect.state, 'state')
}
