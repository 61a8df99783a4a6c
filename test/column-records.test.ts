import t from 'tap'
import type { JsonObject } from '../shared/model/changes.ts'
import { assembleColumnRecords } from '../shared/model/column-records.ts'
import { appendedPosition } from '../shared/model/list-order.ts'
import { toUrn } from '../shared/urn/urn.ts'

const column = (table: string, name: string) =>
  toUrn(`urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:hive,${table},PROD),${name})`)

t.test('the key of each column record is computed once, however many were added one by one', (t) => {
  const count = 300
  let printed = 0
  const transformOperation: JsonObject = {}
  Object.defineProperty(transformOperation, 'toJSON', {
    value: () => {
      printed += 1
      return 'DIRECT'
    }
  })
  const pairs = Array.from({ length: count }, (_, at) => ({
    fieldCode: 1,
    downstreamUrn: column('b', `c${at}`),
    upstreamUrn: column('a', `c${at}`),
    recordKey: -1,
    position: appendedPosition,
    attributes: { transformOperation },
    seq: at,
    line: 0
  }))
  t.equal(assembleColumnRecords([], pairs).length, count)
  t.equal(printed, count)
  t.end()
})
