/** An OTLP receiver: takes spans by HTTP with protobuf, as a collector does, and keeps them. */
import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { withStandIn } from './stand-in-server.ts'

export type ReceivedSpan = {
  traceId: string
  spanId: string
  /** Empty for the root of a trace. */
  parentSpanId: string
  name: string
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  /** In nanoseconds since 1970. */
  startedAt: bigint
  endedAt: bigint
  attributes: Record<string, Value>
  isError: boolean
  /** The text of the status, which ours never have. */
  statusMessage: string
  eventCount: number
  service: Value
}

type Value = string | number | boolean

export type OtlpReceiver = {
  url: string
  spans: readonly ReceivedSpan[]
  /** The headers of each request. */
  headers: readonly Record<string, unknown>[]
}

export async function withOtlpReceiver(t: Test): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const headers: Record<string, unknown>[] = []
  const url = await withStandIn(t, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = Buffer.concat(pieces)
      headers.push(request.headers)
      if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/x-protobuf') {
        response.writeHead(404).end()
        return
      }
      spans.push(...spansOf(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body))
      // an empty message: everything was accepted
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  return { url, spans, headers }
}

/** The numbers are those of opentelemetry-proto: trace/v1/trace.proto, common/v1/common.proto. */
function spansOf(request: Buffer): ReceivedSpan[] {
  return messages(request, 1).flatMap((ofResource) => {
    const service = attributesOf(messages(ofResource, 1)[0], 1)['service.name'] ?? ''
    return messages(ofResource, 2)
      .flatMap((ofScope) => messages(ofScope, 2))
      .map((span) => spanOf(span, service))
  })
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const
const errorStatus = 2n

function spanOf(span: Buffer, service: Value): ReceivedSpan {
  const [status = Buffer.alloc(0)] = messages(span, 15)
  return {
    traceId: messages(span, 1)[0]?.toString('hex') ?? '',
    spanId: messages(span, 2)[0]?.toString('hex') ?? '',
    parentSpanId: messages(span, 4)[0]?.toString('hex') ?? '',
    name: messages(span, 5)[0]?.toString('utf8') ?? '',
    kind: kinds[Number(numbers(span, 6)[0] ?? 0n)] ?? 'internal',
    startedAt: numbers(span, 7)[0] ?? 0n,
    endedAt: numbers(span, 8)[0] ?? 0n,
    attributes: attributesOf(span, 9),
    isError: numbers(status, 3)[0] === errorStatus,
    statusMessage: messages(status, 2)[0]?.toString('utf8') ?? '',
    eventCount: messages(span, 11).length,
    service
  }
}

function attributesOf(message: Buffer | undefined, field: number): Record<string, Value> {
  const pairs = messages(message ?? Buffer.alloc(0), field)
  return Object.fromEntries(
    pairs.map((pair) => [messages(pair, 1)[0]?.toString('utf8') ?? '', valueOf(pair)])
  )
}

function valueOf(pair: Buffer): Value {
  const [value = Buffer.alloc(0)] = messages(pair, 2)
  const [[field, content] = [1, Buffer.alloc(0)]] = fieldsOf(value)
  if (typeof content !== 'bigint') return content.toString('utf8')
  if (field === 4) return new Float64Array(new BigUint64Array([content]).buffer)[0] ?? 0
  return field === 2 ? content === 1n : Number(content)
}

type Field = [number: number, content: Buffer | bigint]

const messages = (message: Buffer, field: number): Buffer[] =>
  fieldsOf(message).flatMap(([number, content]) =>
    number === field && typeof content !== 'bigint' ? [content] : []
  )

const numbers = (message: Buffer, field: number): bigint[] =>
  fieldsOf(message).flatMap(([number, content]) =>
    number === field && typeof content === 'bigint' ? [content] : []
  )

/** The fields of a protobuf message, in the order in which they arrived. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at)
      at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = Number(varint())
    const [number, type] = [tag >>> 3, tag & 7]
    if (type === 0) fields.push([number, varint()])
    else if (type === 1) {
      fields.push([number, message.readBigUInt64LE(at)])
      at += 8
    } else if (type === 5) {
      fields.push([number, BigInt(message.readUInt32LE(at))])
      at += 4
    } else if (type === 2) {
      const length = Number(varint())
      fields.push([number, message.subarray(at, at + length)])
      at += length
    } else throw new Error(`a field of type ${type} in a protobuf message`)
  }
  return fields
}
