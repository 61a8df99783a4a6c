import t from 'tap'
import { lineOfEdge, unpackEdges } from '../shared/catalog/edge-payload.ts'
import { toUrn } from '../shared/urn/urn.ts'

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const line = (op: string, upstream: string, downstream: string): string => `{${op}"upstreamUrn":"${dataset(upstream)}","downstreamUrn":"${dataset(downstream)}"}`

/** As versions of the program before columns have stored them: a then b above c, on the lines 1 and 3; where there are ids, b of the first is 7. */
const before = [
  { version: 1, op: '', payload: '/wGVjM0KwjAQhFe9+RhzUsgT7Fm8WgqejIdoEgykP+SnCqUv4ROLVqQgCC4MywzzzZyIeiK603gzInpq/v6LV3zo0QZj3Q2MXiK3MQWjqn2oJVgCApXT2hswJISEbq71VyVmOy5IDBCfka0LMYFTyEbAxdJUTac82CofzXDMoWbvWKukokm8mvjCq2SbUPHFdUYoUZS7zXo5KfwGTv8C5xF4AA==' },
  { version: 2, op: '', payload: '/wKVjLEKwjAYhH918zFuUsgT/LO4WgpOxiHaBANJW5K0CqUv4ds6VbQgBUHwprvjvpsTUUdEdxo1I6LHMAxzInr5xbs+dKiDNvYGRifR1DEFrfw+lBIsAQFvi8JpMCSERFFdy69JbMz4INFDfE62NsQETqHRAjbm2letcmCjXNT9sQklO8uFSirqxKtJzpxKpgqeL7bVQoks323Wy8ngN3D6FziPwBM=' },
  { version: 3, op: '"op":"removeEdge",', payload: '/wOVjU0KwjAQhce68xizUsgJsla3loIr4yKaqQbSpuSnCqV3EE8sbUQKguDAMMyb773JAOABAE9INQOAobP3nI/yocPGUanvyLETaBuBXKCjyra0URcSyATGxgdHstq7ejwjw0orZQg5joCyt/oL8bFMuQJ7ZJ+QrXY+IA8uEkPti+GVNEnoj9HV3GiuZJCeAl9O9tzIUFpX8atuiUmWF7v1ajEBfhtO/xrOyfAC' }
]

function urnOf(id: number) {
  t.equal(id, 7)
  return toUrn(dataset('seven'))
}

for (const { version, op, payload } of before) {
  t.test(`edges that a program before columns has stored in version ${version} are read as they were meant`, async (t) => {
    const bytes = Buffer.from(payload, 'base64')
    t.equal(bytes[1], version)
    const edges = await unpackEdges(bytes)
    t.equal(edges.isRemoval, version === 3)
    t.same([...edges.lines], [1, 3])
    t.same([0, 1].map((at) => lineOfEdge(edges, at, urnOf)), [line(op, 'a', version === 2 ? 'seven' : 'b'), line(op, 'b', 'c')])
  })
}
