/** Commands in the docs that name a unit, a service or a pod name one that the files of deploy/ make. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import type { JsonValue } from '../../shared/model/changes.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { compose, readFile, systemdUnits } from '../support/deploy-files.ts'
import { isJsonObject, valueAt } from '../support/json-answer.ts'

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'compose.yaml',
  'deploy/helm/templates/NOTES.txt',
  ...readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
]

/** Every command of a program in the pages, with the lines that a backslash continues. */
function commandsOf(program: RegExp): { page: string; command: string }[] {
  return pages.flatMap((page) =>
    readFile(page)
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .flatMap((line) =>
        [...line.matchAll(new RegExp(`\\b${program.source} [^|\`]*`, 'g'))].map(([command]) => ({
          page,
          command: command.replace(/ && .*$/, '').trim()
        }))
      )
  )
}

const wordsOf = (command: string): string[] =>
  command.split(/\s+/).map((word) => word.replaceAll(/^['"]|['"]$/g, ''))

/** `tributary-worker@.service` gives the units `tributary-worker@1` and all others, `tributary-worker@*`. */
const isUnit = (name: string): boolean =>
  systemdUnits
    .map((path) => basename(path, '.service'))
    .some((unit) => (unit.endsWith('@') ? new RegExp(`^${unit}(\\d+|\\*)$`).test(name) : unit === name))

t.test('journalctl and systemctl name units of deploy/systemd', async (t) => {
  const journal = commandsOf(/journalctl/)
  const wrong = [...journal, ...commandsOf(/systemctl/)].flatMap(({ page, command }) =>
    wordsOf(command)
      .filter((word) => word.startsWith('tributary'))
      .filter((word) => !isUnit(word))
      .map((word) => `${page}: ${word} in ${command}`)
  )
  t.same(wrong, [])
  t.ok(journal.length > 3)
  for (const { page, command } of journal)
    t.match(command, /(?:-u|--unit) /, `${page}: ${command} reads the log of a unit`)
  for (const no of ['tributary-worker', 'tributary', 'tributary-web@1', 'tributary-api'])
    t.notOk(isUnit(no), `${no} is not a unit`)
})

t.test('docker compose names services of compose.yaml', async (t) => {
  const services = Object.keys(valueAt(compose, 'services') ?? {})
  const commands = commandsOf(/docker compose/)
  t.ok(commands.length > 5)
  for (const { page, command } of commands) {
    const [, , verb = '', ...rest] = wordsOf(command)
    const scaled = [...command.matchAll(/--scale (\w+)=/g)].map(([, name = '']) => name)
    const named = rest.filter((word) => !word.startsWith('-') && !/^\w+=\d+$|^\d+$/.test(word))
    const taken =
      verb === 'exec' || verb === 'run'
        ? named.slice(0, 1)
        : ['logs', 'up', 'restart', 'stop'].includes(verb)
          ? named
          : []
    for (const service of [...scaled, ...taken])
      t.ok(services.includes(service), `${page}: ${service} in ${command}`)
  }
})

/** What Helm makes of the chart; a release that the guide calls `tributary` is called `demo` there. */
const objects = parseAllDocuments(readFile('test/system/deploy-tools/rendered/everything.yaml')).map(
  // YAML of the chart
  (document) => document.toJS() as JsonValue
)
const kinds: Readonly<Record<string, string>> = {
  deploy: 'Deployment',
  deployment: 'Deployment',
  job: 'Job',
  svc: 'Service',
  service: 'Service'
}

t.test('kubectl names objects and labels of the chart', async (t) => {
  const commands = commandsOf(/kubectl/)
  t.ok(commands.length > 4)
  for (const { page, command } of commands) {
    for (const [, kind = '', name = ''] of command.matchAll(
      /\b(deploy|deployment|job|svc|service)\/(?:\{\{ \.Release\.Name \}\}|tributary)-(\w+)/g
    ))
      t.ok(
        objects.some(
          (object) =>
            valueAt(object, 'kind') === kinds[kind] && valueAt(object, 'metadata.name') === `demo-${name}`
        ),
        `${page}: ${kind}/…-${name}`
      )
    const [, selector] = /(?:--selector|-l)[ =](\S+)/.exec(command) ?? []
    if (selector === undefined) continue
    const wanted = Object.fromEntries(selector.split(',').map((pair) => pair.split('=')))
    t.ok(
      objects.some((object) => {
        const pod = valueAt(object, 'spec.template.metadata.labels')
        return isJsonObject(pod) && Object.entries(wanted).every(([key, value]) => pod[key] === value)
      }),
      `${page}: pods with ${selector}`
    )
  }
})
