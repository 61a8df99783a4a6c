import t from 'tap'
import { packInts, unpackInts } from '../shared/statements/int-columns.ts'
import { fc } from './support/fast-check.ts'

const anyInt = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, 1, -1, 2 ** 31 - 1, -(2 ** 31)),
  fc.integer({ min: 0, max: 200 })
)
/** Repeated numbers, repeated steps, and random numbers. */
const anyColumn = fc
  .array(fc.tuple(anyInt, fc.constantFrom(0, 1, -3, 2 ** 30), fc.integer({ min: 1, max: 300 })), {
    maxLength: 8
  })
  .map((parts) =>
    Int32Array.from(
      parts.flatMap(([begin, step, count]) =>
        Array.from({ length: count % 7 === 0 ? count : 1 + (count % 3) }, (_, at) => begin + at * step)
      )
    )
  )

t.test('a column gives back the numbers that it was made of, in at most five bytes each', async (t) => {
  fc.assert(
    fc.property(anyColumn, (numbers) => {
      const bytes = packInts(numbers)
      t.ok(bytes.length <= 5 * numbers.length)
      t.same(unpackInts(bytes, numbers.length), numbers)
    }),
    { numRuns: 2_000 }
  )
})

t.test(
  'lines that follow one another, and what stays the same, take a few bytes however many there are',
  async (t) => {
    t.ok(packInts(Int32Array.from({ length: 100_000 }, (_, at) => 700 + at)).length <= 8)
    t.ok(packInts(new Int32Array(100_000)).length <= 4)
  }
)

t.test('a damaged column is refused, or contains as many numbers as requested', async (t) => {
  fc.assert(
    fc.property(
      anyColumn,
      fc.uint8Array({ maxLength: 4 }),
      fc.nat(),
      fc.nat({ max: 3_000 }),
      (numbers, noise, at, count) => {
        const bytes = packInts(numbers)
        bytes.set(
          noise.subarray(0, Math.max(0, bytes.length - (at % (bytes.length + 1)))),
          at % (bytes.length + 1)
        )
        for (const asked of [numbers.length, count]) {
          try {
            t.equal(unpackInts(bytes, asked).length, asked)
          } catch (error) {
            t.match(error, { message: /^a column / })
          }
        }
      }
    ),
    { numRuns: 2_000 }
  )
  t.throws(() => unpackInts(Buffer.of(0x80), 1), /ends within a number/)
  t.throws(() => unpackInts(Buffer.of(0x80, 0xff, 0xff, 0xff, 0xff, 0xff), 1), /ends within a number/)
  t.throws(() => unpackInts(Buffer.of(0), 2), /fewer/)
  t.throws(() => unpackInts(Buffer.of(0, 0), 1), /more/)
  t.throws(() => unpackInts(Buffer.of(0x40, 0xff, 0xff, 0xff, 0xff, 0x0f), 20_000), /more/)
})
