/** The tree of domains as rows, and where its keys lead. */
import t from 'tap'
import { fc } from '../support/fast-check.ts'
import {
  canMove,
  parentsOf,
  rowBeginning,
  rowsOf,
  sortByName,
  stepOf,
  treeOfFound,
  type Levels
} from '../../web/src/pages/domains/tree-model.ts'

const node = (urn: string, childCount = 0) => ({ urn, name: urn.toUpperCase(), childCount })
const levels: Levels = new Map([
  [null, [node('a', 2), node('b')]],
  ['a', [node('aa', 1), node('ab')]],
  ['aa', [node('aaa')]]
])
const namesOf = (rows: readonly { urn: string }[]): string => rows.map(({ urn }) => urn).join(' ')

t.test('rows', async (t) => {
  t.test('are the open levels, each domain before its children', async (t) => {
    t.equal(namesOf(rowsOf(levels, new Set())), 'a b')
    t.equal(namesOf(rowsOf(levels, new Set(['aa']))), 'a b', 'what is under a closed one is not shown')
    const rows = rowsOf(levels, new Set(['a', 'aa']))
    t.equal(namesOf(rows), 'a aa aaa ab b')
    t.match(rows[3], { level: 2, parent: 'a', position: 2, siblings: 2, isOpen: false })
    const aaa = rows[2]
    t.ok(aaa)
    if (aaa) t.strictSame(parentsOf(rows, aaa), ['aa', 'a'])
  })

  t.test('end at a domain that is its own ancestor', async (t) => {
    const round: Levels = new Map([
      [null, [node('a', 1)]],
      ['a', [node('b', 1)]],
      ['b', [node('a', 1)]]
    ])
    t.equal(namesOf(rowsOf(round, new Set(['a', 'b']))), 'a b')
  })

  t.test('are sorted by name, with numbers by size', async (t) => {
    const named = ['b', 'a10', 'A2', 'ä'].map((name, index) => ({ urn: String(index), name, childCount: 0 }))
    t.strictSame(
      sortByName(named).map(({ name }) => name),
      ['ä', 'A2', 'a10', 'b']
    )
  })

  t.test('of a search are the found domains and the domains above them, open', async (t) => {
    const found = treeOfFound([
      { ...node('aaa'), parents: [node('aa'), node('a')] },
      { ...node('a', 2), parents: [] },
      { ...node('ab', 7), parents: [node('a')] }
    ])
    const rows = rowsOf(found.levels, found.open)
    t.equal(namesOf(rows), 'a aa aaa ab')
    t.match(rows, [{ childCount: 2 }, { childCount: 1 }, { childCount: 0 }, { childCount: 7, isOpen: false }])
  })
})

t.test('keys', async (t) => {
  const rows = rowsOf(levels, new Set(['a']))
  const at = (urn: string): number => rows.findIndex((row) => row.urn === urn)

  t.test('move up and down, to both ends, in and out', async (t) => {
    t.strictSame(stepOf(rows, at('a'), 'ArrowDown'), { kind: 'go', index: at('aa') })
    t.strictSame(stepOf(rows, at('b'), 'ArrowUp'), { kind: 'go', index: at('ab') })
    t.strictSame(stepOf(rows, at('aa'), 'Home'), { kind: 'go', index: 0 })
    t.strictSame(stepOf(rows, at('aa'), 'End'), { kind: 'go', index: at('b') })
    t.strictSame(stepOf(rows, at('a'), 'ArrowRight'), { kind: 'go', index: at('aa') })
    t.strictSame(stepOf(rows, at('aa'), 'ArrowRight'), { kind: 'open', index: at('aa') })
    t.strictSame(stepOf(rows, at('a'), 'ArrowLeft'), { kind: 'close', index: at('a') })
    t.strictSame(stepOf(rows, at('ab'), 'ArrowLeft'), { kind: 'go', index: at('a') })
    t.strictSame(stepOf(rows, at('b'), 'Enter'), { kind: 'choose', index: at('b') })
    t.strictSame(
      ['ArrowDown', 'ArrowRight', 'ArrowLeft', 'End', 'x'].map((key) => stepOf(rows, at('b'), key)),
      [null, null, null, null, null],
      'and do nothing where they lead nowhere'
    )
    t.equal(stepOf([], 0, 'ArrowDown'), null)
  })

  t.test('for letters lead to the next row that begins with the letter', async (t) => {
    t.equal(rowBeginning(rows, at('a'), 'A'), at('aa'))
    t.equal(rowBeginning(rows, at('b'), 'a'), at('a'), 'from the top again')
    t.equal(rowBeginning(rows, 0, 'z'), -1)
  })

  t.test('never leave the rows', async (t) => {
    fc.assert(
      fc.property(
        fc.subarray(['a', 'aa', 'b']),
        fc.array(fc.constantFrom('ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Home', 'End')),
        (open, keys) => {
          const shown = rowsOf(levels, new Set(open))
          let index = 0
          for (const key of keys) index = stepOf(shown, index, key)?.index ?? index
          t.ok(index >= 0 && index < shown.length)
        }
      )
    )
  })
})

t.test('a domain cannot be put under itself, below itself, or where it is', async (t) => {
  const place = (urn: string, ...parents: string[]) => ({ urn, parents })
  t.strictSame(
    [
      canMove('aa', 'a', null),
      canMove('aa', 'a', place('b')),
      canMove('aa', 'a', place('a')),
      canMove('aa', 'a', place('aa', 'a')),
      canMove('a', null, place('aaa', 'aa', 'a')),
      canMove('a', null, null)
    ],
    [true, true, false, false, false, false]
  )
})
