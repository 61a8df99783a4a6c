/** Hashes of texts and of their bytes are equal, and URNs packed as lines are returned unchanged. */
import t from 'tap'
import { viewOf } from '../shared/urn/byte-words.ts'
import { PackedUrns, UrnPacker } from '../shared/urn/packed-urns.ts'
import { hashOfBytes, hashOfText } from '../shared/urn/text-hash.ts'
import { entityTypeOf, type Urn } from '../shared/urn/urn.ts'
import { dataset } from './support/changes.ts'
import { fc } from './support/fast-check.ts'

t.test('a text and its bytes have the same hash if all of it is ASCII', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii', maxLength: 40 }), fc.nat({ max: 5 }), (text, begin) => {
      const bytes = viewOf(Buffer.from(`${'<'.repeat(begin)}${text}>`))
      return hashOfBytes(bytes, begin, begin + text.length) === hashOfText(text)
    }),
    { numRuns: 500 }
  )
  t.pass()
})

t.test(
  'texts that differ in a bit or three of each word, or in the order of its halves, share no hash but by chance',
  async (t) => {
    const choose = (pair: readonly [string, string]): string[] =>
      Array.from({ length: 14 }, () => pair).reduce<string[]>(
        (texts, parts) => texts.flatMap((text) => parts.map((part) => text + part)),
        ['']
      )
    const mostOfOne = (hashes: readonly number[]): number => {
      const counts = new Map<number, number>()
      for (const hash of hashes) counts.set(hash, (counts.get(hash) ?? 0) + 1)
      return Math.max(...counts.values())
    }
    for (const pair of [
      ['aaaa', 'aaa!'],
      ['abcd', 'cdab'],
      ['ab!@', 'a`!a'],
      ['aa\u0161a', 'aa\u8161a'],
      ['a\u0161', 'a\u8161']
    ] as const) {
      const texts = choose(pair)
      t.ok(mostOfOne(texts.map(hashOfText)) <= 8, `${pair.join(' ')}, as texts`)
      t.ok(
        mostOfOne(texts.map((text) => hashOfBytes(viewOf(Buffer.from(text)), 0, Buffer.byteLength(text)))) <=
          8,
        `${pair.join(' ')}, as bytes`
      )
    }
  }
)

t.test('packed URNs are what they were, with their types', async (t) => {
  const urn = fc.constantFrom(
    dataset('a'),
    dataset('ü'),
    dataset('a'.repeat(600)),
    'urn:li:chart:(looker,a)',
    'urn:li:dataJob:(urn:li:dataFlow:(airflow,f,PROD),j)',
    'urn:li:domain:d',
    'urn:li:dataFlow:(airflow,f,PROD)'
  ) as fc.Arbitrary<Urn>
  fc.assert(
    fc.property(fc.array(urn, { maxLength: 20 }), (urns) => {
      const packer = new UrnPacker()
      const places = urns.map((each) => packer.placeOf(each))
      const packed = packer.packed()
      packer.clear()
      const distinct = [...new Set(urns)]
      t.same(
        places,
        urns.map((each) => distinct.indexOf(each))
      )
      t.same(
        Array.from({ length: packed.length }, (_, place) => packed.at(place)),
        distinct
      )
      const { names, typeOf } = packed.types()
      t.same(
        [...typeOf].map((place) => names[place]),
        distinct.map(entityTypeOf)
      )
      t.equal(new PackedUrns(packed.bytes).length, distinct.length)
    }),
    { numRuns: 100 }
  )
})
