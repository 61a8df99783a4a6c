/**
 * The alerts and the dashboard in deploy/ use metrics that exist, each alert fires, clears and has a section in the runbook.
 * promtool, of Debian's package prometheus, decides.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { packagePath } from '../shared/platform/paths.ts'
import { alertCases } from './cases/alerts.ts'
import { metricTable } from './support/docs-tables.ts'
import { withFolder } from './support/program.ts'
import { withServer } from './support/server.ts'
import { skipUnless } from './support/skip.ts'

type Rule = {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}
type Panel = { title: string; type: string; targets?: { expr: string }[]; panels?: Panel[] }

const rulesFile = packagePath('deploy/prometheus/alerts.yaml')
const read = (path: string): string => readFileSync(packagePath(path), 'utf8')

// our own files
const { groups } = parse(read('deploy/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(read('deploy/grafana/tributary.json')) as { panels: Panel[] }
const panels = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])])
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))

/** Labels of each of our metrics. */
const labelsOf = new Map(
  metricTable()
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim()))
    .map(([, name = '', , labels = '']) => [
      name.replaceAll('`', ''),
      [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)
    ])
)
const labelsOfPrometheus = ['instance', 'job', 'le']

/** The metrics that a query reads, without the suffixes of histograms, and the labels that it selects each by. */
const metricsIn = (expr: string): { name: string; labels: string[] }[] =>
  [...expr.matchAll(/\b((?:tributary|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', selectors = '']) => {
      const [, base = ''] = /^(.*)_(?:bucket|sum|count)$/.exec(name) ?? []
      return {
        name: labelsOf.has(base) ? base : name,
        labels: [...selectors.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label)
      }
    }
  )

const used = [...rules.map(({ alert, expr }) => ({ title: alert, expr })), ...queries]

/** Skips the test, or fails it in CI, where promtool is not installed. Comes first in a test. */
const skipWithoutPromtool = (t: Test): boolean =>
  skipUnless(t, spawnSync('promtool', ['--version']).error === undefined, 'promtool is not installed')

/** Runs promtool, and fails with what it says. */
function promtool(t: Test, args: readonly string[], input = ''): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  t.equal(status, 0, `promtool ${args.join(' ')}\n${stdout}${stderr}`)
}

t.test('alerts and dashboard read metrics that exist, by labels that they have', async (t) => {
  const { rest } = await withServer(t, { withWorker: true })
  const { text } = await rest({ url: '/metrics' })
  const served = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name))
  t.strictSame(
    [...labelsOf.keys()].filter((name) => !served.has(name)),
    [],
    'every metric of the table is served'
  )
  t.ok(queries.length > 20)
  for (const { title, expr } of used) {
    const metrics = metricsIn(expr)
    t.ok(metrics.length > 0, title)
    for (const { name, labels } of metrics) {
      t.ok(served.has(name), `${title}: ${name}`)
      const known = [...(labelsOf.get(name) ?? []), ...labelsOfPrometheus]
      t.strictSame(
        labels.filter((label) => !known.includes(label)),
        [],
        `${title}: labels of ${name}`
      )
    }
  }
})

t.test('promtool accepts the metrics that are served', async (t) => {
  if (skipWithoutPromtool(t)) return
  const { rest } = await withServer(t, { withWorker: true })
  await rest({ method: 'POST', url: '/api/graphql', body: { query: '{ none }' } })
  const { text } = await rest({ url: '/metrics' })
  // prom-client names the metrics of Node.js
  const own = text.split(/^(?=# HELP )/m).filter((part) => !/^# HELP (?:nodejs|process)_/.test(part))
  promtool(t, ['check', 'metrics'], own.join(''))
})

t.test('promtool accepts every query of the dashboard', async (t) => {
  if (skipWithoutPromtool(t)) return
  const file = join(withFolder(t), 'queries.json')
  const recorded = queries.map(({ expr }, at) => ({
    record: `query_${at}`,
    expr: expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '5m')
  }))
  t.notMatch(JSON.stringify(recorded), /\$/, 'every variable has been replaced')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
  promtool(t, ['check', 'rules', file])
})

t.test('the dashboard shows every metric of the table', async (t) => {
  const shown = new Set(queries.flatMap(({ expr }) => metricsIn(expr).map(({ name }) => name)))
  t.strictSame(
    [...labelsOf.keys()].filter((name) => !shown.has(name)),
    []
  )
})

t.test('every alert fires and clears', async (t) => {
  if (skipWithoutPromtool(t)) return
  t.strictSame(
    alertCases.map(({ alert }) => alert),
    rules.map(({ alert }) => alert),
    'every alert has its case'
  )
  const tests = alertCases.map(({ alert, series, labels = {}, firesAt, clearsAt }) => {
    const rule = rules.find((rule) => rule.alert === alert)
    const firing = { exp_labels: { ...rule?.labels, ...labels }, exp_annotations: rule?.annotations }
    return {
      name: alert,
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [
        { eval_time: firesAt, alertname: alert, exp_alerts: [firing] },
        { eval_time: clearsAt, alertname: alert, exp_alerts: [] }
      ]
    }
  })
  const file = join(withFolder(t), 'alerts.json')
  writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }))
  promtool(t, ['test', 'rules', file])
})

t.test('every alert names its own section of the runbook, and every section has its alert', async (t) => {
  const [byAlert = ''] = read('docs/runbook.md').split('\n## By symptom\n')
  const sections = [...byAlert.matchAll(/^## (.*)\n([^]*?)(?=\n## |$(?![^]))/gm)]
  t.strictSame(
    sections.map(([, heading]) => heading),
    rules.map(({ alert }) => alert)
  )
  for (const [, heading = '', text = ''] of sections) {
    t.match(text, /^\*\*Means\.\*\* \S/m, heading)
    t.match(text, /^\*\*Do\.\*\* \S/m, heading)
  }
  for (const { alert, labels, annotations } of rules) {
    t.equal(annotations.runbook, `docs/runbook.md#${alert.toLowerCase()}`)
    t.match(labels.severity, /^(?:warning|critical)$/, alert)
  }
})
