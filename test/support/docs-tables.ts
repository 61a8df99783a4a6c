/** The tables of docs/ that are made from the code they describe: errors, limits, metrics. */
import { readFileSync } from 'node:fs'
import { commandTable } from '../../bin/command-table.ts'
import { descriptions, errorsOf } from '../../api/reference/routes.ts'
import { shapes } from '../../api/reference/shapes.ts'
import { errorCodes } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { loadMoves, terminalStates } from '../../shared/model/load-moves.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { problemCodes } from '../../shared/sql/problems.ts'
import { dialectNames } from '../../shared/sql/dialects.ts'
import { readAllCases } from '../sql/read-cases.ts'

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Code, status over REST, type over GraphQL, whether a retry may help, meaning. */
export const errorTable = (): string =>
  table(
    ['Code', 'Status', 'GraphQL type', 'Again?', 'Meaning'],
    Object.entries(errorCodes).map(([code, { status, type, retryable, meaning }]) => [
      `\`${code}\``,
      String(status),
      `\`${type}\``,
      retryable ? 'yes' : 'no',
      meaning
    ])
  )

/** The shapes of errors over REST: name, media type, required members, and the paths that answer so. */
export const errorShapeTable = (): string => {
  const paths = new Map<string, Set<string>>()
  for (const [route, description] of descriptions) {
    const [, url = ''] = route.split(' ')
    const key = Object.entries(errorsOf(description, url))
      .map(([mediaType, { $ref }]) => `${String($ref).replace('#', '')} ${mediaType}`)
      .join()
    const start = /^\/openapi\/\w+|^\/\w+/.exec(url)?.[0] ?? url
    paths.set(key, (paths.get(key) ?? new Set()).add(start))
  }
  return table(
    ['Shape', 'Media type', 'Members, besides the details', 'Routes'],
    [...paths].map(([key, starts]) => {
      const [shape = '', mediaType = ''] = key.split(' ')
      const required: unknown = shapes[shape]?.required
      const members = Array.isArray(required) ? required.map((name) => `\`${name}\``) : []
      const routes =
        shape === 'Problem'
          ? 'all others, also paths and methods that do not exist'
          : [...starts].map((start) => `\`${start}\``).join(', ')
      return [`\`${shape}\``, `\`${mediaType}\``, members.join(', '), routes]
    })
  )
}

/** Name, value, and the comment above the limit in limits.ts. */
export const limitTable = (): string => {
  const comments = new Map<string, string>()
  let comment = ''
  for (const line of readFileSync(packagePath('shared/limits.ts'), 'utf8').split('\n')) {
    comment = /^ {2}\/\*\* (.*) \*\/$/.exec(line)?.[1] ?? comment
    const name = /^ {2}(\w+): /.exec(line)?.[1]
    if (name) comments.set(name, comment)
  }
  return table(
    ['Limit', 'Value', 'Meaning'],
    Object.entries(limits).map(([name, value]) => [
      `\`${name}\``,
      value.toLocaleString('en-US'),
      comments.get(name) ?? ''
    ])
  )
}

/** Name, kind, labels and meaning of every metric in metrics.ts. */
export const metricTable = (): string => {
  const source = readFileSync(packagePath('shared/platform/metrics.ts'), 'utf8')
  const declared = [
    ...source.matchAll(
      /: (counter|gauge|histogram)\(\s*'(\w+)',\s*'([^']+)'(?:,\s*\w+Buckets)?((?:,\s*'\w+')*)\s*\)/g
    )
  ]
  return table(
    ['Metric', 'Kind', 'Labels', 'Meaning'],
    declared.map(([, kind = '', name = '', meaning = '', labels = '']) => [
      `\`${name}\``,
      kind,
      [...labels.matchAll(/'(\w+)'/g)].map(([, label]) => `\`${label}\``).join(', '),
      meaning
    ])
  )
}

/** Every transition of a load, with who makes it. */
export const loadMoveTable = (): string =>
  table(
    ['From', 'To', 'Who', 'When it happens'],
    loadMoves.map(({ from, to, who, when }) => [from === null ? '-' : `\`${from}\``, `\`${to}\``, who, when])
  )

/** The same as a diagram. Every final state leads to the end, even if a client can retry from it. */
export const loadMovePicture = (): string =>
  [
    'stateDiagram-v2',
    ...loadMoves.map(({ from, to, cause }) => `    ${from ?? '[*]'} --> ${to}: ${cause}`),
    ...terminalStates.map((state) => `    ${state} --> [*]`)
  ].join('\n')

/** Every command of `tributary`, in the order of its help. */
export const commandsTable = async (): Promise<string> =>
  table(
    ['Command', 'Does', 'Example'],
    await Promise.all(
      commandTable.map(async ({ name, summary, open }) => [
        `\`tributary ${name}\``,
        summary,
        `\`${(await open()).examples[0]}\``
      ])
    )
  )

/** The table in a text that has the same head as `wanted`, or null. */
export const tableIn = (text: string, wanted: string): string | null => {
  const head = wanted.slice(0, wanted.indexOf('\n'))
  const start = text.indexOf(`${head}\n`)
  if (start < 0) return null
  const rest = text.slice(start)
  const end = rest.search(/\n(?!\|)/)
  return end < 0 ? rest.trimEnd() : rest.slice(0, end)
}

/** The calls of the clients in test/interop: those that work, or those that are refused. */
export const clientCallTable = (isRefused: boolean): string => {
  const calls: { client: string; call: string; transport: string; result: string; isRefused: boolean }[] =
    JSON.parse(readFileSync(packagePath('test/interop/calls.json'), 'utf8'))
  return table(
    ['Client', 'Call', 'Transport', isRefused ? 'Error' : 'Result'],
    calls
      .filter((row) => row.isRefused === isRefused)
      .map(({ client, call, transport, result }) => [client, asText(call), transport, asText(result)])
  )
}

/** Text in a cell: a bar would end the cell, and `<urn>` would be a tag that nobody sees. */
const asText = (text: string): string => text.replaceAll(/[|<]/g, '\\$&')

/** Kinds of cases of the SQL reader, by the column of the table that counts them. */
const sqlKinds: { [column: string]: readonly string[] } = {
  Queries:
    'joins names ctes star schemas sets windows expressions paths pivots resolution unnamed syntax models'.split(
      ' '
    ),
  Writes: 'create insert merge update-delete copy'.split(' '),
  'Scripts, procedures': 'scripts procedures'.split(' '),
  'Templates, comments, faults': 'placeholders unread'.split(' ')
}

/** How many statements of each dialect the SQL reader is tested with, and how many of them it does not get right. */
export function sqlDialectTable(): string {
  const cases = readAllCases()
  const unknown = cases.filter(({ kind }) => !Object.values(sqlKinds).some((kinds) => kinds.includes(kind)))
  if (unknown.length > 0) throw new Error(`${unknown[0]?.kind} is in no column of the table of dialects`)
  return table(
    ['Dialect', 'Statements', ...Object.keys(sqlKinds), 'Not right yet'],
    dialectNames.map((dialect) => {
      const count = (isCounted: (each: (typeof cases)[number]) => boolean): string =>
        String(
          cases
            .filter((each) => each.dialects.includes(dialect) && isCounted(each))
            .reduce((sum, { statements }) => sum + Math.max(statements.length, 1), 0)
        )
      return [
        `\`${dialect}\``,
        count(() => true),
        ...Object.values(sqlKinds).map((kinds) => count(({ kind }) => kinds.includes(kind))),
        count(({ notYet }) => notYet?.dialects.includes(dialect) === true)
      ]
    })
  )
}

/** What can keep a statement, or a column of it, from being read. */
export const sqlProblemTable = (): string =>
  table(
    ['Code', 'Meaning'],
    Object.entries(problemCodes).map(([code, meaning]) => [`\`${code}\``, meaning])
  )
