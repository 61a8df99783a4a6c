/**
 * `tributary domain rules list|set|preview|apply`: the rules that put new assets into domains, and their
 * application to existing assets.
 */
import { readFileSync } from 'node:fs'
import { serverOf, serverOptions } from '../client-options.ts'
import { readDomainPaths } from '../client/domain-paths.ts'
import { readCards } from '../client/entity-card.ts'
import { count, counted } from '../quantity.ts'
import { isObject, readLoad } from '../client/load-view.ts'
import { resolveDomain } from '../client/resolve-reference.ts'
import { getJson, postJson, putJson } from '../client/ask.ts'
import type { Server } from '../client/server.ts'
import type { Command } from '../command.ts'
import { confirm, yesOption } from '../confirm.ts'
import { exitCodes, reasonOf, Refusal } from '../failure.ts'
import { openTable, type Cell, type Column } from '../table.ts'
import { waitAndReport } from './load-status.ts'

const fileNote =
  'FILE is a JSON list of rules, in the order in which they are tried: {"platform", "namespace", "name", "domain"}. The first three are patterns with * and ?, of which one at least is given; domain is a name, a path such as Sales/Orders, or a URN.'

export const domainRulesList: Command = {
  notes: ['Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'],
  examples: ['tributary domain rules list', 'tributary domain rules list --json > rules.json'],
  options: {
    json: { help: 'Print the rules as a JSON list, the input of domain rules set.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const rules = listIn(await getJson(server, 'domain-rules'), 'rules')
    if (input.isSet('json'))
      terminal.out(
        JSON.stringify(
          rules.map(({ platform, namespace, name, domainUrn }) => ({ platform, namespace, name, domainUrn })),
          null,
          2
        )
      )
    else {
      const pathOf = await readDomainPaths(server, rules.map(domainUrnOf))
      openTable(ruleColumns, terminal).print(rules.map((rule, index) => rowOf(rule, index, pathOf)))
    }
    if (rules.length === 0 && !input.isSet('json')) terminal.err('There are no domain rules.')
    return exitCodes.ok
  }
}

export const domainRulesSet: Command = {
  notes: [
    fileNote,
    'Replaces all rules; an empty list removes them. Existing assets stay where they are: see domain rules apply. On a terminal it says how many rules it replaces, and asks.',
    'Exit code: 0 set, 1 usage, not confirmed or refused, 4 server unreachable.'
  ],
  examples: ['tributary domain rules set rules.json'],
  operands: ['FILE'],
  operandWords: 'files',
  options: {
    json: { help: 'Print the rules that now apply as JSON.' },
    ...yesOption,
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const rules = await readRules(server, input.operands[0] ?? '')
    await confirm(input, terminal, async () => {
      const before = listIn(await getJson(server, 'domain-rules'), 'rules').length
      return before === 0 ? null : replaceQuestion(before, rules.length)
    })
    const answer = await putJson(server, 'domain-rules', { rules })
    if (input.isSet('json')) terminal.out(JSON.stringify(answer))
    else
      terminal.out(`${counted(rules.length, 'domain rule')} ${rules.length === 1 ? 'is' : 'are'} in force.`)
    return exitCodes.ok
  }
}

const replaceQuestion = (before: number, after: number): string =>
  `${before === 1 ? 'The domain rule in force is' : `All ${count(before)} domain rules in force are`} ${after === 0 ? 'removed. Remove' : `replaced by ${counted(after, 'rule')}. Replace`} ${before === 1 ? 'it' : 'them'}?`

export const domainRulesPreview: Command = {
  notes: [
    `${fileNote} Without it the current rules are tried.`,
    'Prints each asset that would be put into a domain, with the number of the rule that decides. Nothing is changed.',
    'Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'
  ],
  examples: ['tributary domain rules preview', 'tributary domain rules preview rules.json'],
  operands: ['[FILE]'],
  operandWords: 'files',
  options: { json: { help: 'Print each asset as one line of JSON.' }, ...serverOptions },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const [file] = input.operands
    const rules = file === undefined ? {} : { rules: await readRules(server, file) }
    const table = openTable(changeColumns, terminal)
    let found = 0
    for (let after: unknown = 0; after !== null;) {
      const page = await postJson(server, 'domain-rules/preview', undefined, { ...rules, after })
      const changes = listIn(page, 'changes')
      found += changes.length
      if (input.isSet('json')) for (const change of changes) terminal.out(JSON.stringify(change))
      else {
        const pathOf = await readDomainPaths(server, changes.map(domainUrnOf))
        const cards = await readCards(
          server,
          changes.map(({ entityUrn }) => String(entityUrn))
        )
        table.print(
          changes.map((change, at) => [
            cards[at]?.name ?? '',
            cards[at]?.platform ?? '',
            pathOf(domainUrnOf(change)),
            String(Number(change.rule) + 1),
            String(change.entityUrn)
          ])
        )
      }
      after = isObject(page) && typeof page.next === 'number' ? page.next : null
    }
    terminal.err(`${counted(found, 'asset')} would be put into a domain.`)
    return exitCodes.ok
  }
}

export const domainRulesApply: Command = {
  notes: [
    'Puts the assets that domain rules preview lists into their domains, as a load: tributary load undo undoes it. An asset that is in a domain, or was taken out of one, stays as it is.',
    'Exit code: that of the load, as for tributary load; 0 if there is nothing to do.'
  ],
  examples: ['tributary domain rules apply'],
  options: {
    'no-wait': { help: 'Do not wait for the end of the load (exit code 0).' },
    json: { help: 'Print the load as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const answer = await postJson(server, 'domain-rules/apply')
    if (isObject(answer) && answer.load === null) {
      if (input.isSet('json')) terminal.out(JSON.stringify(answer))
      else terminal.out('Nothing to do: no asset without a domain matches a rule.')
      return exitCodes.ok
    }
    const started = readLoad(isObject(answer) ? answer.load : null)
    return waitAndReport(server, started, input, terminal)
  }
}

function listIn(answer: unknown, name: string): Record<string, unknown>[] {
  const list = isObject(answer) ? answer[name] : null
  if (Array.isArray(list)) return list.filter(isObject)
  throw new Refusal('Unexpected answer. Is this a Tributary server?', exitCodes.unreachable)
}

const ruleColumns: readonly Column[] = [
  { title: 'RULE', kind: 'number' },
  { title: 'PLATFORM', kind: 'name' },
  { title: 'NAMESPACE', kind: 'name' },
  { title: 'NAME', kind: 'name' },
  { title: 'DOMAIN', kind: 'name' }
]

const changeColumns: readonly Column[] = [
  { title: 'ASSET', kind: 'name' },
  { title: 'PLATFORM', leaveOut: 2 },
  { title: 'DOMAIN', kind: 'name' },
  { title: 'RULE', kind: 'number' },
  { title: 'URN', colour: 'dim', leaveOut: 1 }
]

const domainUrnOf = ({ domainUrn }: Record<string, unknown>): string => String(domainUrn)

function rowOf(rule: Record<string, unknown>, index: number, pathOf: (urn: string) => string): Cell[] {
  const [platform = '', namespace = '', name = ''] = ['platform', 'namespace', 'name'].map((part) =>
    typeof rule[part] === 'string' ? rule[part] : ''
  )
  const isSkipped = rule.exists === false
  return [
    String(index + 1),
    platform,
    namespace,
    name,
    `${pathOf(domainUrnOf(rule))}${isSkipped ? ' (does not exist: skipped)' : ''}`
  ]
}

/** Throws Refusal unless the file has a list of objects; the server checks the rules. */
async function readRules(server: Server, file: string): Promise<Record<string, unknown>[]> {
  const rules = parse(file)
  const urns = new Map<string, string>()
  const named: Record<string, unknown>[] = []
  for (const { domain, ...rule } of rules) {
    if (typeof domain === 'string') {
      if (rule.domainUrn !== undefined)
        throw new Refusal(`${file}: domain and domainUrn mean the same; give one of them.`)
      const urn = urns.get(domain) ?? (await resolveDomain(server, domain))
      urns.set(domain, urn)
      named.push({ ...rule, domainUrn: urn })
    } else named.push(domain === undefined ? rule : { ...rule, domain })
  }
  return named
}

function parse(file: string): Record<string, unknown>[] {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Refusal(`${file} cannot be read as JSON: ${reasonOf(error)}`, exitCodes.refused, {
      cause: error
    })
  }
  if (Array.isArray(value) && value.every(isObject)) return value
  throw new Refusal(`${file} must be a JSON list of rules.`)
}
