/** No sentence of the docs is so long that it must be read twice. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { docPages } from '../support/doc-pages.ts'
import { sentencesOf, wordsIn } from '../support/style-words.ts'

const maxWords = 40

t.test(`no sentence of a page has more than ${maxWords} words`, async (t) => {
  let count = 0
  for (const page of docPages) {
    const sentences = sentencesOf(readFileSync(packagePath(page), 'utf8'))
    count += sentences.length
    const long = sentences
      .map(({ line, text }) => ({ line, text, words: wordsIn(text) }))
      .filter(({ words }) => words > maxWords)
      .map(({ line, text, words }) => `${page}:${line}: ${words} words: ${text}`)
    t.strictSame(long, [], page)
  }
  t.ok(count > 1_000, `${count} sentences`)
})

t.test('sentences are found where a reader sees them', async (t) => {
  const inPage = (page: string): string[] => sentencesOf(page).map(({ text }) => text)
  const cases: [what: string, page: string, sentences: string[]][] = [
    ['lines of one paragraph are joined', 'One\ntwo. Three.', ['One two.', 'Three.']],
    ['an item is a paragraph', '- One\n  two\n- Three', ['One two', 'Three']],
    ['a heading ends without a stop', '# One\nTwo.', ['One', 'Two.']],
    ['a colon ends nothing', 'One: Two.', ['One: Two.']],
    ['bold sentences end', '**One.** Two.', ['**One.**', 'Two.']],
    ['a number with a stop does not end one', 'It takes 1.5 s and 3 s.', ['It takes 1.5 s and 3 s.']],
    ['rows of tables do not count', '| One | two |\n| --- | --- |\n\nThree.', ['Three.']],
    ['code does not count, and is one word', '```sh\nOne two.\n```\nUse `a b c`.', ['Use `…`.']],
    ['the target of a link is not read', '[One](a.md#b) two.', ['[One] two.']],
    ['a stop in brackets ends one', 'One (two.) Three.', ['One (two.)', 'Three.']]
  ]
  for (const [what, page, sentences] of cases) t.strictSame(inPage(page), sentences, what)
  t.equal(wordsIn('One – two | `…` 3'), 4)
})
