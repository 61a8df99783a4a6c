/** The files for hosting platforms, tried with the tools of others: hadolint, the schema of Compose, Helm, the schemas of Kubernetes, systemd. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { parse as parseYaml, parseAllDocuments } from 'yaml'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { settings } from '../../shared/platform/config.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { NoPython, openPythonEnvironment } from '../../dev/python-environment.ts'
import { systemdUnits } from '../support/deploy-files.ts'
import { isJsonObject, parsed, valueAt } from '../support/json-answer.ts'
import { withFolder } from '../support/program.ts'
import { skipUnless } from '../support/skip.ts'

// the tools are fetched once
t.setTimeout(600_000)

/** The oldest Kubernetes of the chart, and the newest whose schemas the tool has. */
const kubernetesVersions = ['1.27', '1.37']

/** `systemd-analyze security` calls anything below 20 (2.0) OK; a unit without any protection has 96. */
const exposureMax = 20

const chart = packagePath('deploy/helm')

async function findTools(): Promise<{ bin: string } | { missing: string }> {
  try {
    return { bin: await openPythonEnvironment('test/system/deploy-tools/requirements.txt') }
  } catch (error) {
    if (error instanceof NoPython) return { missing: error.message }
    throw error
  }
}

const tools = await findTools()

function run(
  command: string,
  args: readonly string[],
  input = ''
): { status: number | null; said: string; out: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', input })
  return { status, said: `${stdout}${stderr}`, out: stdout }
}

const runTool = (name: string, args: readonly string[], input = ''): ReturnType<typeof run> =>
  run('bin' in tools ? join(tools.bin, name) : name, args, input)

/** All objects of the chart by kind and name, or the error of Helm. */
function renderChart(
  values: JsonObject
): { objects: Map<string, JsonValue>; text: string } | { error: string } {
  const { status, said, out } = runTool(
    'python',
    [packagePath('test/system/deploy-tools/render-chart.py'), chart],
    JSON.stringify([values])
  )
  if (status !== 0) throw new Error(said)
  const answer = valueAt(parsed(out), '0')
  const error = valueAt(answer, 'error')
  if (typeof error === 'string') return { error }
  const manifests = valueAt(answer, 'manifests')
  const text = Object.entries(isJsonObject(manifests) ? manifests : {})
    .filter(([path]) => path.endsWith('.yaml'))
    .map(([path, manifest]) => `# ${basename(path)}\n${String(manifest).trim()}\n`)
    .filter((manifest) => manifest.split('\n').length > 2)
    .join('---\n')
  const objects = parseAllDocuments(text)
    // YAML of the chart
    .map((document) => document.toJS() as JsonValue)
    .filter(isJsonObject)
    .map((object) => [`${String(object.kind)} ${String(valueAt(object, 'metadata.name'))}`, object] as const)
  return { objects: new Map(objects), text }
}

const valuesFolder = 'test/system/deploy-tools/values'
const renderedFolder = 'test/system/deploy-tools/rendered'
const cases = readdirSync(packagePath(valuesFolder)).map((name) => basename(name, '.yaml'))

/** The values of a file of ours. */
const valuesOf = (name: string): JsonObject =>
  parseYaml(readFileSync(packagePath(`${valuesFolder}/${name}.yaml`), 'utf8')) as JsonObject

t.test('hadolint has no remark about the Dockerfiles', async (t) => {
  if (skipUnless(t, 'bin' in tools, 'missing' in tools ? tools.missing : '')) return
  for (const file of ['Dockerfile', 'deploy/docker/Dockerfile']) {
    const { status, said } = runTool('hadolint', [packagePath(file)])
    t.equal(status, 0, said)
  }
  const worse = join(withFolder(t), 'Dockerfile')
  writeFileSync(
    worse,
    readFileSync(packagePath('Dockerfile'), 'utf8').replace(/^WORKDIR \/build$/m, 'WORKDIR build')
  )
  t.not(runTool('hadolint', [worse]).status, 0, 'it remarks on what is wrong')
})

t.test('compose.yaml is valid by the schema of Compose', async (t) => {
  if (skipUnless(t, 'bin' in tools, 'missing' in tools ? tools.missing : '')) return
  const check = (path: string): ReturnType<typeof run> =>
    runTool('check-jsonschema', ['--builtin-schema', 'vendor.compose-spec', path])
  const { status, said } = check(packagePath('compose.yaml'))
  t.equal(status, 0, said)
  const worse = join(withFolder(t), 'compose.yaml')
  writeFileSync(worse, readFileSync(packagePath('compose.yaml'), 'utf8').replace('read_only:', 'readonly:'))
  t.not(check(worse).status, 0, 'it refuses an unknown key')
})

t.test('the chart, rendered by Helm', async (t) => {
  if (skipUnless(t, 'bin' in tools, 'missing' in tools ? tools.missing : '')) return
  const plain = renderChart({})
  const full = renderChart(valuesOf('everything'))
  if ('error' in plain || 'error' in full) throw new Error(JSON.stringify([plain, full]))

  t.test('is what is committed for each file of values (WRITE_DEPLOY=1 rewrites them)', async (t) => {
    for (const name of cases) {
      const rendered = renderChart(valuesOf(name))
      if ('error' in rendered) throw new Error(`${name}: ${rendered.error}`)
      const path = packagePath(`${renderedFolder}/${name}.yaml`)
      if (process.env.WRITE_DEPLOY === '1') writeFileSync(path, rendered.text)
      t.equal(existsSync(path) ? readFileSync(path, 'utf8') : '', rendered.text, name)
    }
    t.same(readdirSync(packagePath(renderedFolder)).sort(), cases.map((name) => `${name}.yaml`).sort())
  })

  t.test('is valid by the schemas of Kubernetes', async (t) => {
    for (const name of cases) {
      const committed = readFileSync(packagePath(`${renderedFolder}/${name}.yaml`), 'utf8')
      // the operator of Prometheus brings the schema of its own objects
      const text = committed
        .split(/^---$/m)
        .filter((document) => !document.includes('apiVersion: monitoring.coreos.com/'))
        .join('---')
      const path = join(withFolder(t), `${name}.yaml`)
      writeFileSync(path, text)
      for (const version of kubernetesVersions) {
        const { status, said } = runTool('kubernetes-validate', ['--strict', '-k', version, path])
        t.equal(status, 0, said)
      }
      writeFileSync(path, text.replace('imagePullPolicy:', 'imagePullPolice:'))
      t.not(runTool('kubernetes-validate', ['--strict', path]).status, 0, 'the tool refuses an unknown field')
    }
  })

  t.test('has what the guide says, and more only if it is asked for', async (t) => {
    const always = [
      'Deployment demo-web',
      'Deployment demo-worker',
      'Job demo-migrate',
      'PodDisruptionBudget demo-web',
      'PodDisruptionBudget demo-worker',
      'Service demo-web'
    ]
    t.same([...plain.objects.keys()].sort(), always)
    t.same(
      [...full.objects.keys()].sort(),
      [
        ...always,
        'HorizontalPodAutoscaler demo-worker',
        'Ingress demo-web',
        'Service demo-worker',
        'ServiceMonitor demo-metrics'
      ].sort()
    )
    t.match(valueAt(full.objects.get('Job demo-migrate'), 'metadata.annotations'), {
      'helm.sh/hook': 'pre-install,pre-upgrade'
    })
    t.equal(valueAt(plain.objects.get('Deployment demo-worker'), 'spec.replicas'), 2)
    t.equal(
      valueAt(full.objects.get('Deployment demo-worker'), 'spec.replicas'),
      undefined,
      'the autoscaler decides'
    )
  })

  t.test('runs every process as a normal user who can write nothing', async (t) => {
    for (const [name, object] of full.objects) {
      const pod = valueAt(object, 'spec.template.spec')
      if (pod === undefined) continue
      t.match(valueAt(pod, 'securityContext'), { runAsNonRoot: true, runAsUser: 1000 }, name)
      t.match(valueAt(pod, 'containers.0.securityContext'), {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] }
      })
      t.equal(valueAt(pod, 'automountServiceAccountToken'), false)
      t.match(valueAt(pod, 'containers.0.envFrom.0.secretRef'), { name: 'tributary' })
    }
  })

  t.test('asks each process on the port on which it listens', async (t) => {
    for (const [name, key] of [
      ['web', 'PORT'],
      ['worker', 'WORKER_PORT']
    ] as const) {
      const container = valueAt(
        full.objects.get(`Deployment demo-${name}`),
        'spec.template.spec.containers.0'
      )
      const port = valueAt(container, 'ports.0.containerPort')
      t.same(valueAt(container, 'env.0'), { name: key, value: String(port) })
      const env = valueAt(container, 'env')
      const byName = new Map(
        (Array.isArray(env) ? env : []).map((entry) => [valueAt(entry, 'name'), valueAt(entry, 'value')])
      )
      t.equal(byName.get('LOG_LEVEL'), 'debug')
      t.equal(byName.get('WORKER_CONCURRENCY'), '4')
      t.equal(byName.get('RATE_LIMIT_PER_MINUTE'), '1000000', 'not 1e+06, as Helm writes it')
      for (const [probe, path] of [
        ['startup', 'live'],
        ['liveness', 'live'],
        ['readiness', 'ready']
      ] as const)
        t.same(valueAt(container, `${probe}Probe.httpGet`), { path: `/health/${path}`, port: 'http' })
    }
  })

  t.test('scales workers by a metric that exists', async (t) => {
    const metric = valueAt(
      full.objects.get('HorizontalPodAutoscaler demo-worker'),
      'spec.metrics.0.external.metric.name'
    )
    t.match(readFileSync(packagePath('shared/platform/metrics.ts'), 'utf8'), `'${String(metric)}'`)
  })

  t.test('gives a pod more time than its process takes to stop', async (t) => {
    for (const name of cases) {
      const rendered = renderChart(valuesOf(name))
      if ('error' in rendered) throw new Error(rendered.error)
      for (const component of ['web', 'worker']) {
        const pod = valueAt(rendered.objects.get(`Deployment demo-${component}`), 'spec.template.spec')
        const env = valueAt(pod, 'containers.0.env')
        const seconds = (key: string, fallback: string): number =>
          Number(
            (Array.isArray(env) ? env : [])
              .filter((entry) => valueAt(entry, 'name') === key)
              .map((entry) => valueAt(entry, 'value'))[0] ?? fallback
          )
        const stop =
          seconds('SHUTDOWN_SECONDS', settings.shutdownSeconds.fallback ?? '') +
          seconds('SHUTDOWN_DELAY_SECONDS', '0')
        t.ok(Number(valueAt(pod, 'terminationGracePeriodSeconds')) > stop, `${name}: ${component}`)
      }
    }
    const drain = Number(
      valueAt(parseYaml(readFileSync(join(chart, 'values.yaml'), 'utf8')) as JsonObject, 'web.drainSeconds')
    )
    t.ok(drain > 5, 'a pod is taken for longer than a load balancer needs to notice')
  })

  t.test('lets every process trust a private authority, and mounts its certificates', async (t) => {
    for (const name of ['private-ca', 'private-ca-and-volumes']) {
      const rendered = renderChart(valuesOf(name))
      if ('error' in rendered) throw new Error(rendered.error)
      for (const object of ['Job demo-migrate', 'Deployment demo-web', 'Deployment demo-worker']) {
        const pod = valueAt(rendered.objects.get(object), 'spec.template.spec')
        const key = name === 'private-ca' ? 'root.pem' : 'ca.crt'
        t.match(
          JSON.stringify(valueAt(pod, 'containers.0.env')),
          `{"name":"NODE_EXTRA_CA_CERTS","value":"/etc/tributary/ca/${key}"}`
        )
        t.match(valueAt(pod, 'containers.0.volumeMounts.0'), {
          name: 'ca-certificates',
          mountPath: '/etc/tributary/ca'
        })
        t.equal(valueAt(pod, 'volumes.0.name'), 'ca-certificates')
      }
    }
  })

  t.test('migrates with the Secret of the owner, where roles are separate', async (t) => {
    const rendered = renderChart(valuesOf('separate-roles'))
    if ('error' in rendered) throw new Error(rendered.error)
    const secretOf = (object: string): unknown =>
      valueAt(rendered.objects.get(object), 'spec.template.spec.containers.0.envFrom.0.secretRef.name')
    t.equal(secretOf('Job demo-migrate'), 'catalog-owner')
    t.equal(secretOf('Deployment demo-web'), 'catalog-app')
    t.equal(secretOf('Deployment demo-worker'), 'catalog-app')
  })

  t.test('is refused with a secret among its values, or with a misspelled one', async (t) => {
    for (const wrong of [
      { web: { drainSeconds: -1 } },
      { caCertificates: { configMap: 'a', secret: 'b' } },
      { topologySpread: [{ maxSkew: 1 }] },
      { serviceMonitor: { interval: 'often' } },
      { podDisruptionBudget: { maxUnavailable: 'half' } },
      { extraVolumeMounts: [{ name: 'x' }] },
      { podLabels: { team: 1 } }
    ] satisfies JsonObject[])
      t.match(renderChart(wrong), { error: /./ }, JSON.stringify(wrong))
    t.match(renderChart({ databaseUrl: 'postgres://me:secret@host/db' }), { error: /databaseUrl/ })
    t.match(renderChart({ worker: { autoscaling: { maxReplica: 3 } } }), { error: /maxReplica/ })
    t.match(renderChart({ existingSecret: '' }), { error: /existingSecret/ })
  })
})

t.test('the units are what systemd reads, and keep each process from what it does not need', async (t) => {
  if (skipUnless(t, run('systemd-analyze', ['--version']).status === 0, 'systemd-analyze is not installed'))
    return
  const folder = join(withFolder(t), 'units')
  mkdirSync(folder)
  const paths = systemdUnits.map((unit) => {
    const path = join(folder, basename(unit).replace('@', '@1'))
    const text = readFileSync(packagePath(unit), 'utf8')
    // verify wants the program to be there
    writeFileSync(
      path,
      text.replaceAll('/opt/tributary/node_modules/.bin/tributary', packagePath('dist/bin/tributary.js'))
    )
    return path
  })
  const { status, said } = run('systemd-analyze', ['verify', ...paths])
  t.equal(status, 0, said)
  t.equal(said, '', 'without a warning')
  for (const path of paths) {
    const security = run('systemd-analyze', [
      'security',
      '--offline=true',
      `--threshold=${exposureMax}`,
      '--no-pager',
      path
    ])
    t.equal(security.status, 0, security.said.split('\n').slice(-3).join('\n'))
  }
})
