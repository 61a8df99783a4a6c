/** Ids by their first characters: one way for everything that has an id. */
import t from 'tap'
import { Refusal } from '../bin/failure.ts'
import { findId, type Candidate } from '../bin/find-id.ts'

const ids = ['0b8f1111', '0b8f2222', 'ffff0000'].map((start) => `${start}-0000-4000-8000-000000000000`)

/** With the calls of the list. */
function listing(found: readonly string[]): {
  asked: string[]
  list: (prefix: string, count: number) => Promise<Candidate[]>
} {
  const asked: string[] = []
  return {
    asked,
    list: async (prefix, count) => {
      asked.push(prefix)
      return found
        .filter((id) => id.startsWith(prefix))
        .slice(0, count)
        .map((id) => ({ id, name: `named ${id.slice(0, 8)}` }))
    }
  }
}

t.test('the first characters are enough if one id begins with them, in either case', async (t) => {
  for (const text of ['ffff', 'FFFF0', 'ffff0000-0000-4000-8000-00000000000']) {
    const { list, asked } = listing(ids)
    t.equal(await findId(text, 'load', list), ids[2], text)
    t.strictSame(asked, [text.toLowerCase()])
  }
})

t.test(
  'a whole id, or what cannot be the beginning of one, is left to the catalog without a list',
  async (t) => {
    const { list, asked } = listing(ids)
    for (const text of ['', 'xyz', '../loads', '-0b8f', ids[0] ?? '', `${ids[0]}0`, 'urn:li:domain:0b8f'])
      t.equal(await findId(text, 'load', list), text)
    t.strictSame(asked, [])
  }
)

t.test('an ambiguous beginning names the candidates, a few of them', async (t) => {
  const refuses = (text: string, found: readonly string[], message: string | RegExp): Promise<unknown> =>
    t.rejects(findId(text, 'token', listing(found).list), { constructor: Refusal, message, exitCode: 1 })
  await refuses(
    '0b8f',
    ids,
    `The ids of several tokens begin with 0b8f: ${ids[0]} (named 0b8f1111), ${ids[1]} (named 0b8f2222).`
  )
  const many = Array.from({ length: 9 }, (_, at) => `0b8f000${at}-0000-4000-8000-000000000000`)
  await refuses('0b8f', many, /^(?!.*0b8f0005).*0b8f0004.* and more\.$/)
  await refuses('7777', ids, 'No token id begins with 7777.')
  for (const text of ['f', 'fff']) await refuses(text, ids, /is too short: give at least 4 characters/)
})
