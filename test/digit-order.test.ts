/** Sorting places digit by digit gives the same order as a stable sort. */
import t from 'tap'
import { orderedBy, placesUpTo } from '../shared/model/digit-order.ts'
import { fc } from './support/fast-check.ts'

t.test('places are in the order of their keys, and those with the same key as they were', (t) => {
  const key = fc.oneof(fc.nat(3), fc.nat(2 ** 11), fc.nat(2 ** 22 + 5), fc.nat(2 ** 31 - 1))
  fc.assert(
    fc.property(fc.array(fc.tuple(key, key), { maxLength: 300, size: 'max' }), (pairs) => {
      const [first, second] = [
        Int32Array.from(pairs, ([one]) => one),
        Int32Array.from(pairs, ([, two]) => two)
      ]
      const places = placesUpTo(pairs.length)
      const ordered = orderedBy(first, orderedBy(second, places))
      const expected = [...pairs.keys()].sort(
        (a, b) => (first[a] ?? 0) - (first[b] ?? 0) || (second[a] ?? 0) - (second[b] ?? 0) || a - b
      )
      if ([...ordered].join() !== expected.join())
        throw new Error(`${[...ordered].join()} for ${JSON.stringify(pairs)}`)
      if ([...places].join() !== [...pairs.keys()].join()) throw new Error('what was given has changed')
    }),
    { numRuns: 500 }
  )
  t.pass()
  t.end()
})
