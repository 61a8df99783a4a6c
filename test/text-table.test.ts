/** Texts and URNs as bytes: each has one place, and is found and given back as it was put in. */
import t from 'tap'
import { viewOf } from '../shared/urn/byte-words.ts'
import { PackedUrns, UrnPacker } from '../shared/urn/packed-urns.ts'
import { hashOfBytes, hashOfText } from '../shared/urn/text-hash.ts'
import { TextTable } from '../shared/urn/text-table.ts'
import { entityTypeOf, type Urn } from '../shared/urn/urn.ts'
import { dataset } from './support/changes.ts'
import { fc } from './support/fast-check.ts'

t.test('a text has the place that it was given first, whatever else is there', async (t) => {
  const text = fc.oneof(
    fc.constantFrom('a', 'b', 'ab', 'ü', '😀', ''),
    fc.nat({ max: 400 }).map((number) => `text ${number}`)
  )
  fc.assert(
    fc.property(fc.array(fc.array(text, { maxLength: 300 }), { maxLength: 3 }), (rounds) => {
      const table = new TextTable()
      for (const texts of rounds) {
        const places = new Map<string, number>()
        for (const each of texts) {
          const bytes = viewOf(Buffer.from(`<${each}>`))
          const end = bytes.byteLength - 1
          const known = places.get(each)
          if (table.find(bytes, 1, end, hashOfBytes(bytes, 1, end)) !== (known ?? -1))
            throw new Error(`found where it is not: ${each}`)
          if (table.placeOf(bytes, 1, end) !== (known ?? places.size))
            throw new Error(`another place: ${each}`)
          if (known === undefined) places.set(each, places.size)
        }
        if (table.count !== places.size) throw new Error('counted otherwise')
        if (table.lines().toString('utf8') !== [...places.keys()].map((each) => `${each}\n`).join(''))
          throw new Error('given back otherwise')
        table.clear()
      }
    }),
    { numRuns: 200 }
  )
  t.pass()
})

t.test('texts of one hash are told apart', async (t) => {
  const table = new TextTable()
  const [a, b] = [viewOf(Buffer.from('first')), viewOf(Buffer.from('other'))]
  t.equal(table.add(a, 0, 5, 7), 0)
  t.equal(table.find(b, 0, 5, 7), -1)
  t.equal(table.add(b, 0, 5, 7), 1)
  t.same([table.find(a, 0, 5, 7), table.find(b, 0, 5, 7), table.find(b, 0, 4, 7)], [0, 1, -1])
})

t.test('a text and its bytes have one hash where all of it is ASCII', async (t) => {
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
