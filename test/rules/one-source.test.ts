/** A figure that several pages name has one source: exit codes are those of bin/failure.ts, rates those of the page that measures. */
import { readdirSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { commandTable } from '../../bin/command-table.ts'
import { exitCodes } from '../../bin/failure.ts'
import { limits } from '../../shared/limits.ts'
import { readFile } from '../support/deploy-files.ts'
import { packagePath } from '../../shared/platform/paths.ts'

const { refused, rejects, loadEnded, unreachable, stillRunning, config, ok } = exitCodes
const signalCodes = [constants.signals.SIGINT, constants.signals.SIGTERM].map((number) => 128 + number)

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions/'))
    .sort()
    .map((name) => join('docs', name))
]

/** Sentences with an exit code. Every mention in the docs is one of these, with the code that the program has. */
const claims: { page: string; says: RegExp; code: number }[] = [
  {
    page: 'docs/configuration.md',
    says: /reports all invalid keys together and exits with (\d+)/,
    code: config
  },
  {
    page: 'docs/command-line.md',
    says: /clock and loads\. Exit code (\d+) if something is wrong/,
    code: refused
  },
  {
    page: 'docs/command-line.md',
    says: /After exit code (\d+), or if the token is refused/,
    code: unreachable
  },
  {
    page: 'docs/how-to/deploy.md',
    says: /tries again for three\s+minutes, then ends with exit code (\d+)/,
    code: refused
  },
  {
    page: 'docs/how-to/load-csv.md',
    says: /with their line and reason, and ends with exit code (\d+)/,
    code: rejects
  },
  {
    page: 'docs/how-to/load-from-an-etl-job.md',
    says: /Exit code (\d+) means that some records were rejected/,
    code: rejects
  },
  { page: 'docs/how-to/load-from-an-etl-job.md', says: /It exits with (\d+) without\s+rejects/, code: ok },
  { page: 'docs/how-to/use-pgbouncer.md', says: /`serve`, `work` and `up` end with (\d+)/, code: config },
  {
    page: 'docs/guides/from-marquez.md',
    says: /Exit code (\d+) means that it did not come back/,
    code: unreachable
  },
  { page: 'docs/guides/from-marquez.md', says: /the others are loaded: exit code (\d+)/, code: rejects },
  { page: 'docs/runbook.md', says: /^### A process ends at once with (\d+)/m, code: config },
  { page: 'docs/runbook.md', says: /Exit code (\d+) and one line on standard error/, code: config },
  { page: 'docs/runbook.md', says: /If it ends at once with (\d+)/, code: config }
]

/** Exit codes of other programs. */
const ofOthers = [/`curl` exits with 18/]

const mention =
  /(?:\bexit codes?:?|\bexits? with(?: code)?|\bends? (?:at once )?with(?: exit code)?) `?(\d{1,3})\b(?! ?(?:s|ms|%|MB|of|rejects?)\b)/gi

t.test('every exit code that a page names is the one that the program ends with', async (t) => {
  for (const { page, says, code } of claims)
    t.equal(says.exec(readFile(page))?.[1], String(code), `${page}: ${says.source}`)
  for (const page of pages) {
    const text = readFile(page)
    const known = [...claims.filter((claim) => claim.page === page).map(({ says }) => says), ...ofOthers].map(
      (says) => {
        const found = new RegExp(says.source, says.flags).exec(text)
        return found === null ? null : [found.index, found.index + found[0].length]
      }
    )
    const unknown = [...text.matchAll(mention)].filter(
      ({ index, 0: said, 1: code }) =>
        Number(code) < 256 &&
        !known.some((span) => span !== null && index + said.length > (span[0] ?? 0) && index < (span[1] ?? 0))
    )
    t.same(
      unknown.map(([said]) => said),
      [],
      `${page}: add a claim to this test, so that the code is held`
    )
  }
})

t.test('the tables of docs/command-line.md have every exit code', async (t) => {
  const page = readFile('docs/command-line.md')
  const codesOf = (head: string): number[] => {
    const [, rows = ''] =
      new RegExp(`^\\| ${head} \\| \\|\\n\\| --- \\| --- \\|\\n((?:\\|.*\\n)+)`, 'm').exec(page) ?? []
    return [...rows.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = '']) => codes.split(', ').map(Number))
  }
  t.same(
    codesOf('Exit code').sort((a, b) => a - b),
    [...Object.values(exitCodes), ...signalCodes].sort((a, b) => a - b)
  )
  t.same(codesOf('Exit code of a load'), [
    ok,
    refused,
    rejects,
    loadEnded,
    unreachable,
    stillRunning,
    ...signalCodes
  ])
})

t.test('the help of a command calls an exit code what it is', async (t) => {
  const words: Readonly<Record<number, RegExp>> = {
    [ok]: /./,
    [refused]: /usage|refused/,
    [rejects]: /rejects|refused/,
    [loadEnded]: /failed/,
    [unreachable]: /unreachable|cannot be reached|does not answer/,
    [stillRunning]: /runs|running|--wait/
  }
  let count = 0
  for (const { name, open } of commandTable)
    for (const note of (await open()).notes ?? [])
      for (const [, code = '', meaning = ''] of (/Exit codes?: (.*)/s.exec(note)?.[1] ?? '').matchAll(
        /\b(\d) ([^;]*?)(?=, \d |; \d |[.;]|$)/g
      )) {
        if (meaning === 'that occurred') continue
        count += 1
        t.match(meaning, words[Number(code)] ?? /never/, `${name}: ${code} ${meaning}`)
      }
  t.ok(count > 30, `${count} codes`)
})

const performance = readFile('docs/performance.md')
const sizing = readFile('docs/sizing.md')
const tablesOf = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .join('\n')

/** A rate such as `139,000 edges a second`; what somebody limits or sends is not measured. */
const rate =
  /(\d[\d,]*(?:\.\d+)?)\s+(?:(?:new|plain|more)\s+)?(?:(?:edges|records|rows|events|assets|requests|writes)\s+)?(?:a|per)\s+second/g

t.test(
  'a rate that a page names is one that docs/performance.md or a table of docs/sizing.md measures',
  async (t) => {
    const measured = new Set(
      [...`${performance}\n${tablesOf(sizing)}`.matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([number]) => number)
    )
    let count = 0
    for (const page of pages.filter((name) => name !== 'docs/performance.md')) {
      const prose = page === 'docs/sizing.md' ? readFile(page).replaceAll(/^\|.*$/gm, '') : readFile(page)
      for (const [said, number = ''] of prose.matchAll(rate)) {
        count += 1
        const isDerived = page === 'docs/sizing.md' && number === derived()
        t.ok(measured.has(number) || isDerived, `${page}: ${said.replaceAll('\n', ' ')}`)
      }
    }
    t.ok(count > 1, `${count} rates`)
  }
)

/** Microseconds of processor time for an edge: all, Postgres, API, worker, client. */
function costsOf(what: string): number[] {
  const row = performance.split('\n').find((line) => line.startsWith(`| ${what} | `)) ?? ''
  return row
    .split('|')
    .slice(2, -1)
    .map((cell) => Number.parseFloat(cell))
}

/** Edges a second that keep four cores of Postgres busy, in ten thousands. */
const derived = (): string =>
  (Math.round(4e6 / (costsOf('a new edge')[1] ?? 1) / 10_000) * 10_000).toLocaleString('en-US')

t.test(
  'docs/sizing.md and docs/how-to/scale-workers.md reckon with the costs that docs/performance.md measures',
  async (t) => {
    const [, postgres = 0, api = 0, worker = 0] = costsOf('a new edge')
    const [, ofProposal = 0, apiOfProposal = 0, workerOfProposal = 0] = costsOf(
      'an edge in a proposal of ten'
    )
    const flat = sizing.replaceAll(/\s+/g, ' ')
    t.match(
      flat,
      `A new edge takes ${postgres} microseconds of Postgres, ${api} of the API and ${worker} of a worker; an edge in a proposal of ten takes ${ofProposal}, ${apiOfProposal} and ${workerOfProposal}.`
    )
    t.match(flat, `busy at some ${derived()} edges a second`)
    const [, plain = ''] = /([\d,]+) edges a second/.exec(performance) ?? []
    const scale = readFile('docs/how-to/scale-workers.md').replaceAll(/\s+/g, ' ')
    t.match(scale, `one worker applies about ${plain} new edges a second`)
    t.match(scale, 'it does half of the work of a new edge')
    const [all = 1] = costsOf('a new edge')
    t.ok(Math.abs(postgres / all - 0.5) < 0.1, 'half')
  }
)

t.test('whoever installs a client of DataHub installs the version that CI runs', async (t) => {
  const [, version = ''] = /^acryl-datahub==(.+)$/m.exec(readFile('test/interop/requirements.txt')) ?? []
  const shown = (text: string): string[] =>
    [...text.matchAll(/pip install[^\n]*?acryl-datahub([^\s'"`]*)/g)].map(([, rest = '']) => rest)
  const isPinned = (rest: string): boolean => rest.replace(/^\[[\w,-]+\]/, '') === `==${version}`
  const found = [...pages, 'web/src/texts.ts'].flatMap((page) =>
    shown(readFile(page)).map((rest) => ({ page, rest }))
  )
  t.ok(found.length > 4, `${found.length} commands`)
  t.strictSame(
    found.filter(({ rest }) => !isPinned(rest)),
    []
  )
  const cases: [command: string, isRight: boolean][] = [
    [`pip install 'acryl-datahub[postgres]==${version}'`, true],
    [`pip install acryl-datahub==${version}`, true],
    ["pip install 'acryl-datahub[postgres,datahub-rest]'", false],
    ['pip install --upgrade acryl-datahub', false],
    ["python3 -m pip install 'acryl-datahub[dbt]==1.6.0'", false],
    [`pip install 'acryl-datahub>=${version}'`, false]
  ]
  for (const [command, isRight] of cases) t.strictSame(shown(command).map(isPinned), [isRight], command)
})

t.test('the README says of each row who else has it, as docs/comparison.md does', async (t) => {
  /** The beginning of a row of the README, and of the row of the comparison. */
  const rows: [readme: string, comparison: string][] = [
    ['Exact answers', 'Totals and degrees'],
    ['No blind minutes', 'A read after the answer'],
    ['Try a load', 'Undo of a load'],
    ['Snapshots by source', 'Snapshots'],
    ['Bulk loads', 'Many edges in one request'],
    ['Only Postgres', 'Runs on Postgres alone']
  ]
  const cellsOf = (page: string, start: string): string[] =>
    (
      readFile(page)
        .split('\n')
        .find((line) => line.startsWith(start)) ?? ''
    )
      .split(' | ')
      .map((cell) => cell.replace(/ \|$/, '').trim())
  for (const [readme, comparison] of rows) {
    const others = cellsOf('README.md', `| **${readme}`).at(-1)?.split(';') ?? []
    const claimed = cellsOf('docs/comparison.md', `| ${comparison}`).slice(-3)
    for (const [index, name] of ['DataHub', 'OpenMetadata', 'Marquez'].entries()) {
      const said = others.find((part) => part.includes(name))
      const known = /^(?:yes|no|partly)/.exec(claimed[index] ?? '')?.[0]
      t.equal(
        said === undefined ? 'no' : said.includes('partly') ? 'partly' : 'yes',
        known,
        `${readme}: ${name}`
      )
    }
  }
})

t.test('a page that offers dry runs and undos to newcomers names their limits', async (t) => {
  const mib = limits.loadAtomicMaxBytes / 1024 / 1024
  const claims: [page: string, said: RegExp][] = [
    ['README.md', /up to ([\d,]+) records and (\d+) MiB, or ([\d,]+) OpenLineage events\. Within 30 days/],
    ['docs/faq.md', /up to ([\d,]+) records and (\d+) MiB, or ([\d,]+) OpenLineage events/]
  ]
  for (const [page, said] of claims)
    t.strictSame(
      said
        .exec(readFile(page).replaceAll(/\s+/g, ' '))
        ?.slice(1)
        .map((figure) => Number(figure.replaceAll(',', ''))),
      [limits.loadAtomicMaxRecords, mib, limits.eventChunkMaxRecords],
      page
    )
  for (const page of ['README.md', 'docs/faq.md', 'docs/concepts.md'])
    t.match(
      readFile(page).replaceAll(/\s+/g, ' '),
      /(?:[Ww]ithin 30 days.*OpenLineage events cannot be undone)/,
      page
    )
})

t.test('docs/faq.md reckons what a catalog takes with the figures of docs/sizing.md', async (t) => {
  const numberAfter = (text: RegExp): number =>
    Number(text.exec(sizing)?.[1]?.replaceAll(',', '') ?? Number.NaN)
  const ofAsset = numberAfter(/^\| an asset \([^|]*\| ([\d,]+)/m)
  const ofEdge = numberAfter(/^\| an edge \| ([\d,]+)/m)
  const inMemory = numberAfter(/That was (\d+) bytes for each asset/)
  const api = numberAfter(/\*\*API\.\*\* About (\d+) MB/)
  const worker = numberAfter(/\*\*Worker\.\*\* (\d+) MB/)
  const faq = readFile('docs/faq.md').split('\n')
  const computed = faq.filter((line) => line.includes('(computed)'))
  t.equal(computed.length, 2)
  for (const line of computed) {
    const [assets = 0, edges = 0, disk = 0, ofApi = 0, ofWorker = 0] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => Number.parseFloat(cell.replaceAll(',', '')))
    const reckoned = (assets * ofAsset + edges * ofEdge) / 1e6
    t.ok(Math.abs(disk - reckoned) <= 5, `${line}: ${reckoned}`)
    t.equal(edges, assets * 5)
    t.equal(ofApi, Math.round(api + (assets * inMemory) / 1e6), line)
    t.equal(ofWorker, worker)
  }
  const measured = faq.find((line) => line.includes('(measured)')) ?? ''
  const [, disk = ''] = /^\| disk, tables and indexes \| ([^|]+) \|/m.exec(sizing) ?? []
  const [, least = '', most = ''] =
    /^\| memory of one API process[^|]*\| ([\d.]+) to ([\d.]+) GB/m.exec(sizing) ?? []
  t.ok(measured.includes(`| ${disk} |`), disk)
  t.ok(measured.includes(`| ${Number(least) * 1000} to ${Number(most) * 1000} MB |`), `${least} to ${most}`)
})
