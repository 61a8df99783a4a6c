/** Sends a probe, and says what is wrong about its answers. */
import { errorCodes } from '../../shared/errors.ts'
import type { JsonValue } from '../../shared/model/changes.ts'
import { faultOf } from '../support/check-answer.ts'
import { parsed, valueAt } from '../support/json-answer.ts'
import { sendBytes, sendRaw, type RawAnswer } from '../support/raw-request.ts'
import type { Expected, Holder, Probe, Sent } from './probe.ts'

/** Where probes go, and the values of the placeholders in their texts. */
export type Target = {
  url: string
  tokens: { readonly [holder in Holder]: string }
  load: string
  listener: string
  /** Texts that no answer may contain, such as the name of the database. */
  secrets: readonly string[]
}

/** What only our own side knows: stacks, files, SQL, and tokens. */
const internals: readonly RegExp[] = [
  /\n\s+at .+:\d+/,
  /node_modules|\bdist\/|\bfile:\/\//,
  /\b[\w-]+\.(?:ts|js):\d+/,
  /\b(?:select|insert into|update|delete from)\b[^"]*\b(?:where|values|set|from)\b/i,
  /\bknex\b|\bpg_\w+|SQLSTATE|syntax error at or near|violates \w+ constraint|relation \\?"/i,
  /postgres(?:ql)?:\/\//,
  /trib_[0-9A-Za-z]{20}/
]

/** Headers of every answer to a request that is valid HTTP. */
const always: { readonly [name: string]: RegExp | null } = {
  'x-content-type-options': /^nosniff$/,
  'content-security-policy': /default-src/,
  'strict-transport-security': /max-age=\d+/,
  'referrer-policy': /no-referrer|same-origin/,
  'x-frame-options': /./,
  'x-request-id': /^[\w.-]{1,64}$/,
  'x-powered-by': null,
  server: null,
  'access-control-allow-origin': null
}

/** Empty if every answer is the expected one. */
export async function faultsOf(probe: Probe, target: Target): Promise<string[]> {
  const faults: string[] = []
  for (const [index, sent] of [probe, ...(probe.afterwards ?? [])].entries())
    for (const fault of await faultsOfOne(sent, target))
      faults.push(index === 0 ? fault : `afterwards ${index}: ${fault}`)
  return faults
}

async function faultsOfOne(sent: Sent, target: Target): Promise<string[]> {
  const holder = sent.as === undefined ? 'writer' : sent.as
  const fill = (text: string): string => filled(text, target, holder)
  const answer =
    sent.bytes === undefined
      ? await send(sent, target.url, holder && target.tokens[holder], fill)
      : readAnswer(await sendBytes(target.url, fill(sent.bytes)))
  const found = faultOf(parsed(answer.text))
  const { expected } = sent
  const faults: string[] = []
  if (answer.status !== expected.status) faults.push(`status ${answer.status}, not ${expected.status}`)
  if ((found?.code ?? null) !== expected.code)
    faults.push(`code ${found?.code ?? null}, not ${expected.code}`)
  faults.push(...faultsOfHeaders(answer, sent), ...faultsOfText(answer.text, target, sent, fill))
  if (expected.rejects) faults.push(...(await faultsOfRejects(answer, target, expected)))
  return faults.length > 0 ? [`${faults.join(', ')}: ${answer.text.slice(0, 400)}`] : []
}

const filled = (text: string, { tokens, load, listener }: Target, holder: Holder | null): string =>
  text
    .replaceAll('<load>', load)
    .replaceAll('<listener>', listener)
    .replaceAll('<token>', tokens[holder ?? 'writer'])
    .replaceAll(
      /<token of (\w+)>/g,
      (whole, name: string) => Object.entries(tokens).find(([known]) => known === name)?.[1] ?? whole
    )

function send(
  { method = 'GET', path, headers = {}, body }: Sent,
  url: string,
  token: string | null,
  fill: (text: string) => string
): Promise<RawAnswer> {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body)
  return sendRaw(url, {
    method,
    path: fill(path),
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]))
    },
    ...(body === undefined ? {} : { body: bytesOf(body, fill) })
  })
}

const bytesOf = (body: JsonValue | Buffer, fill: (text: string) => string): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(fill(typeof body === 'string' ? body : JSON.stringify(body)))

/** The first answer of a connection; any further one is a part of its text, where `lacks` finds it. */
function readAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.replace(/^[^:]*:\s*/, '')])
  )
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, text: rest.join('\r\n\r\n') }
}

function faultsOfHeaders({ headers, status }: RawAnswer, { bytes, expected }: Sent): string[] {
  const wanted = Object.entries(expected.headers ?? {})
  const named = new Set(wanted.map(([name]) => name))
  const wrong = wanted.filter(([name, value]) => (headers[name] ?? null) !== value).map(([name]) => name)
  // What is not valid HTTP is answered before there is a request.
  if (bytes === undefined && status !== 431)
    for (const [name, pattern] of Object.entries(always))
      if (!named.has(name) && !(pattern ? pattern.test(headers[name] ?? '') : headers[name] === undefined))
        wrong.push(name)
  return wrong.map((name) => `header ${name}: ${headers[name] ?? null}`)
}

function faultsOfText(
  text: string,
  { secrets }: Target,
  { path, body, expected: { code, contains, lacks } }: Sent,
  fill: (text: string) => string
): string[] {
  const own = `${path} ${decoded(path)} ${typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : String(body)}`
  // An answer may repeat what the attacker wrote.
  const leaks = (code === null ? [] : internals).filter((pattern) => {
    const [found] = pattern.exec(text) ?? []
    return found !== undefined && !own.includes(found)
  })
  return [
    ...leaks.map((pattern) => `tells what matches ${pattern.source}`),
    ...secrets.filter((secret) => text.includes(secret)).map((secret) => `tells ${secret}`),
    ...(contains !== undefined && !text.includes(fill(contains)) ? [`lacks ${contains}`] : []),
    ...(lacks !== undefined && text.includes(fill(lacks)) ? [`contains ${lacks}`] : [])
  ]
}

/** The rejects of the load that is answered, read with the administrator's token. */
async function faultsOfRejects(
  { text }: RawAnswer,
  { url, tokens }: Target,
  { rejects }: Expected
): Promise<string[]> {
  const load = parsed(text)
  const id = String(valueAt(load, 'id'))
  const listed = await sendRaw(url, {
    method: 'GET',
    path: `/loads/${id}/rejects`,
    headers: { authorization: `Bearer ${tokens.admin}` }
  })
  const codes = listed.text
    .split('\n')
    .filter(Boolean)
    .map((line) => String(valueAt(parsed(line), 'code')))
  const count = Number(valueAt(load, 'counts.received'))
  return codes.length === count && codes.every((code) => code === rejects && code in errorCodes)
    ? []
    : [`rejects ${codes.join(' ')} of ${count} records, not ${rejects}`]
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
