/** Pages, deploy files and web pages write `tributary` as a reader can call it, and say where it runs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import t from 'tap'
import { commandTable } from '../../bin/command-table.ts'
import { packagePath } from '../../shared/platform/paths.ts'

const read = (path: string): string => readFileSync(packagePath(path), 'utf8')

const filesBelow = (folder: string, ending: RegExp): string[] =>
  readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path))
    .map((path) => `${folder}/${path}`)

/** Pages for the checkout begin with `npm ci`, so `npx tributary` works in their folder. */
const checkoutPages = ['README.md', 'docs/tutorial.md']
/** They explain where the command runs. */
const explaining = ['docs/command-line.md', 'docs/how-to/install-from-npm.md']
/** A decision is about the code, and tells nobody to run a command. */
const pages = filesBelow('docs', /\.md$/).filter(
  (page) => !page.startsWith('docs/decisions/') && ![...checkoutPages, ...explaining].includes(page)
)

const words = [...new Set(commandTable.map(({ name }) => name.split(' ')[0])), 'help'].join('|')
/** A command at the beginning of a line, a code span, a pipe or a substitution, perhaps after variables. */
const shown = new RegExp(`(?:^|\`|\\| |\\$\\()[ ]*(?:[A-Z_]+=\\S+ )*(?:npx )?tributary (?:${words})\\b`, 'm')

const linkFrom = (page: string): string =>
  `${relative(dirname(page), 'docs/command-line.md')}#where-the-command-runs`

t.test(
  'a page that shows a command says first what it is for, and then where the command runs',
  async (t) => {
    const showing = pages.filter((page) => shown.test(read(page)))
    t.ok(showing.length > 20, `${showing.length} pages`)
    for (const page of showing) {
      const sentence = `In a checkout, or in a folder with the package, \`tributary\` is \`npx tributary\`: [where the command runs](${linkFrom(page)}).`
      const [, purpose = '', note] = read(page).split('\n\n')
      t.match(purpose, /^(?!#|\d+\. |- |\||```|<!--|In a checkout)/, `${page}: a sentence about its purpose`)
      t.equal(note, sentence, page)
    }
  }
)

t.test(
  'the README and the tutorial warn of the package of somebody else before the first command',
  async (t) => {
    for (const page of checkoutPages) {
      const text = read(page).replaceAll(/\s+/g, ' ')
      const warning = `In any other folder \`npx tributary\` fetches a package of somebody else from npm: [where the command runs](${linkFrom(page)}).`
      const place = text.indexOf(warning)
      t.ok(place > 0, page)
      t.ok(place < text.search(/`?npx tributary [a-z]/), `${page}: before the first command`)
      t.equal(text.split(warning).length, 2, `${page}: once`)
    }
  }
)

t.test(
  'a command that a reader pastes is never fetched from npm as the package of somebody else',
  async (t) => {
    const deployed = ['compose.yaml', 'Procfile', 'Dockerfile', 'render.yaml', 'app.json', 'fly.toml']
    const readers = [
      ...pages,
      ...filesBelow('deploy', /\.(?:md|txt|yaml|yml|service|json)$/),
      ...filesBelow('web/src', /\.tsx?$/),
      ...deployed.filter((path) => existsSync(packagePath(path)))
    ]
    const faults = readers.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) => {
          const rest = line.replace(
            /^In a checkout, or in a folder with the package, `tributary` is `npx tributary`:|Write npx tributary for tributary in a checkout, or/,
            ''
          )
          // on Heroku the working directory is the package itself
          return /(?<!heroku run )\bnpx (?:--\S+ )*tributary\b/.test(rest)
            ? [`${path}:${index + 1}: ${line.trim()}`]
            : []
        })
    )
    t.strictSame(faults, [])
    for (const page of checkoutPages) {
      const bare = read(page)
        .split('\n')
        .filter((line) => new RegExp(`(?<!npx )(?<![\\w/-])tributary (?:${words})\\b`).test(line))
      t.strictSame(bare, [], `${page} calls the command as it works in a checkout`)
    }
  }
)
