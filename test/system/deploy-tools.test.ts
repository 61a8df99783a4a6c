/** The files for hosting platforms, tried with the tools of others: hadolint, the schema of Compose, Helm, the schemas of Kubernetes, systemd. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
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
    .map(([, manifest]) => String(manifest))
    .join('\n---\n')
  const objects = parseAllDocuments(text)
    // YAML of the chart
    .map((document) => document.toJS() as JsonValue)
    .filter(isJsonObject)
    .map((object) => [`${String(object.kind)} ${String(valueAt(object, 'metadata.name'))}`, object] as const)
  return { objects: new Map(objects), text }
}

const everything: JsonObject = {
  config: { LOG_LEVEL: 'debug', WORKER_CONCURRENCY: 4 },
  image: { pullSecrets: [{ name: 'registry' }] },
  nodeSelector: { disk: 'fast' },
  podAnnotations: { 'example.com/team': 'data' },
  tolerations: [{ key: 'only', operator: 'Exists' }],
  web: { ingress: { enabled: true, className: 'nginx', tlsSecret: 'certificate', annotations: { a: 'b' } } },
  worker: { autoscaling: { enabled: true } }
}

t.test('hadolint has no remark about the Dockerfile', async (t) => {
  if (skipUnless(t, 'bin' in tools, 'missing' in tools ? tools.missing : '')) return
  const { status, said } = runTool('hadolint', [packagePath('Dockerfile')])
  t.equal(status, 0, said)
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
  const full = renderChart(everything)
  if ('error' in plain || 'error' in full) throw new Error(JSON.stringify([plain, full]))

  t.test('is valid by the schemas of Kubernetes', async (t) => {
    for (const [name, { text }] of Object.entries({ plain, full })) {
      const path = join(withFolder(t), `${name}.yaml`)
      writeFileSync(path, text)
      for (const version of kubernetesVersions) {
        const { status, said } = runTool('kubernetes-validate', ['--strict', '-k', version, path])
        t.equal(status, 0, said)
      }
      writeFileSync(path, text.replace('maxUnavailable:', 'maxUnavailabel:'))
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
      [...always, 'HorizontalPodAutoscaler demo-worker', 'Ingress demo-web'].sort()
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
      t.match(valueAt(container, 'env'), [{}, { name: 'LOG_LEVEL', value: 'debug' }, { value: '4' }])
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

  t.test('is refused with a secret among its values, or with a misspelled one', async (t) => {
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
