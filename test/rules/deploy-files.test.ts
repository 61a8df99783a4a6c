/** The files for hosting platforms start the processes of the Procfile, with keys that exist, on a Node.js that is tested, without secrets. */
import { readdirSync } from 'node:fs'
import t from 'tap'
import { settings } from '../../shared/platform/config.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import {
  compose,
  deployedProcesses,
  fly,
  heroku,
  procfileCommands,
  readFile,
  render,
  systemdUnits
} from '../support/deploy-files.ts'
import { parsed, valueAt } from '../support/json-answer.ts'

/** Read by Node.js, by libraries or by the platform itself. */
const keysOfOthers = ['NODE_ENV', 'NODE_VERSION']
const knownKeys = Object.values(settings).map(({ key }) => key)

t.test('every platform starts the processes of the Procfile, by its commands', async (t) => {
  t.same(procfileCommands, { release: 'migrate', web: 'serve', worker: 'work' })
  for (const { file, name, command } of deployedProcesses)
    t.equal(command, procfileCommands[name], `${file}: ${name}`)
  const complete = ['compose.yaml', 'render.yaml', 'fly.toml', 'Procfile']
  for (const file of complete)
    t.same(
      deployedProcesses
        .filter((process) => process.file === file)
        .map(({ name }) => name)
        .sort(),
      ['release', 'web', 'worker'],
      file
    )
  t.same(
    readdirSync(packagePath('deploy/systemd')).sort(),
    systemdUnits.map((path) => path.replace('deploy/systemd/', '')).sort()
  )
})

t.test('a process is given only keys that exist, and that it reads', async (t) => {
  const page = readFile('docs/how-to/deploy.md').split('## Which process reads what')[1] ?? ''
  const readBy = (command: string): string[] => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`tributary ${command}\``)) ?? ''
    return [...row.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, key = '']) => key)
  }
  // one environment for all processes
  const shared = ['fly.toml', 'app.json', 'render.yaml']
  for (const { file, name, command, keys } of deployedProcesses) {
    const allowed = shared.includes(file) ? knownKeys : readBy(command)
    t.same(
      keys.filter((key) => ![...allowed, ...keysOfOthers].includes(key)),
      [],
      `${file}: ${name}`
    )
  }
  const asked = [...readFile('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, key = '']) => key)
  t.same(
    asked.filter((key) => key !== 'POSTGRES_PASSWORD' && !knownKeys.includes(key)),
    [],
    'compose.yaml takes from .env'
  )
  for (const process of ['web', 'worker'])
    for (const key of ['DATABASE_URL', 'REDIS_URL'])
      t.ok(
        deployedProcesses.some(
          ({ file, name, keys }) => file === 'compose.yaml' && name === process && keys.includes(key)
        ),
        `compose.yaml: ${process} has ${key}`
      )
})

t.test('no file has a secret: they are asked for, generated or referred to', async (t) => {
  const secret = /PASSWORD|SECRET|TOKEN|_URL$/
  for (const [key, value] of Object.entries(valueAt(heroku, 'env') ?? {}))
    if (secret.test(key)) t.equal(valueAt(value, 'generator'), 'secret', `app.json: ${key}`)
  for (const [name, service] of Object.entries(valueAt(compose, 'services') ?? {}))
    for (const [key, value] of Object.entries(valueAt(service, 'environment') ?? {}))
      if (secret.test(key) && key !== 'REDIS_URL') t.match(value, /\$\{/, `compose.yaml: ${name}: ${key}`)
  for (const key of Object.keys(valueAt(fly, 'env') ?? {})) t.notMatch(key, secret)
  for (const [, key = '', next = ''] of readFile('render.yaml').matchAll(/- key: (\w+)\n +(\w+):/g))
    if (secret.test(key)) t.match(next, /^(generateValue|fromDatabase|fromService)$/, `render.yaml: ${key}`)
  t.notMatch(readFile('deploy/helm/values.yaml'), /^\s*(DATABASE_URL|[A-Z_]*(TOKEN|SECRET|PASSWORD)):/m)
  for (const unit of systemdUnits) t.notMatch(readFile(unit), /^Environment=.*(URL|TOKEN|SECRET)/m)
})

t.test('a container may write nothing, is not root, and has time to stop', async (t) => {
  t.match(readFile('Dockerfile'), /^USER [1-9]\d*$/m)
  const stopSeconds = Number(settings.shutdownSeconds.fallback)
  for (const name of ['migrate', 'web', 'worker']) {
    const service = valueAt(compose, `services.${name}`)
    t.equal(valueAt(service, 'read_only'), true)
    t.same(valueAt(service, 'cap_drop'), ['ALL'])
    t.ok(Number.parseInt(String(valueAt(service, 'stop_grace_period'))) > stopSeconds)
  }
  const flyDelay = Number(valueAt(fly, 'env.SHUTDOWN_DELAY_SECONDS'))
  t.ok(flyDelay >= 2 * Number.parseInt(String(valueAt(fly, 'http_service.checks.0.interval'))))
  t.ok(Number.parseInt(String(valueAt(fly, 'kill_timeout'))) > stopSeconds + flyDelay)
  const renderDelay = Number(
    /- key: SHUTDOWN_DELAY_SECONDS\n +value: '(\d+)'/.exec(readFile('render.yaml'))?.[1]
  )
  for (const [index, delay] of [renderDelay, 0].entries())
    t.ok(Number(valueAt(render, `services.${index}.maxShutdownDelaySeconds`)) > stopSeconds + delay)
  for (const unit of systemdUnits)
    t.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(readFile(unit))?.[1]) > stopSeconds)
})

t.test('the image of the package is that of a checkout, from another place', async (t) => {
  const last = (path: string): string[] =>
    (
      readFile(path)
        .split(/^FROM /m)
        .at(-1) ?? ''
    )
      .replaceAll('/package', '/app')
      .split('\n')
      .filter((line) => !/^(#|ADD |COPY |$)/.test(line))
  t.same(last('deploy/docker/Dockerfile'), last('Dockerfile'))
})

t.test('an image is built with everything that the package contains', async (t) => {
  const files = valueAt(parsed(readFile('package.json')), 'files')
  const tops = (Array.isArray(files) ? files : [])
    .map((name) => String(name).split('/')[0] ?? '')
    .filter((name) => !name.startsWith('!') && name !== 'dist')
  t.ok(tops.includes('deploy'))
  const ignored = readFile('.dockerignore').trim().split('\n')
  t.same(
    tops.filter((name) => ignored.includes(name)),
    []
  )
})

t.test('the chart has the version of the program', async (t) => {
  const version = String(valueAt(parsed(readFile('package.json')), 'version'))
  t.match(readFile('deploy/helm/Chart.yaml'), `\nversion: ${version}\nappVersion: ${version}\n`)
})
