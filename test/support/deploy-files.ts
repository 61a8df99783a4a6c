/** The files for hosting platforms, read: which processes each starts, by which command and with which keys of the environment. */
import { readFileSync } from 'node:fs'
import { parse as parseToml } from 'smol-toml'
import { parse as parseYaml } from 'yaml'
import type { JsonValue } from '../../shared/model/changes.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { isJsonObject, parsed, valueAt } from './json-answer.ts'

export const readFile = (path: string): string => readFileSync(packagePath(path), 'utf8')

/** A process that a file starts; `command` is the word after `tributary`. */
export type DeployedProcess = { file: string; name: string; command: string; keys: readonly string[] }

/** Files for one platform each. The parsers give JSON, but type it as unknown. */
export const compose = parseYaml(readFile('compose.yaml'), { merge: true }) as JsonValue
export const render = parseYaml(readFile('render.yaml')) as JsonValue
export const fly = parseToml(readFile('fly.toml')) as unknown as JsonValue
export const heroku = parsed(readFile('app.json'))

const keysOf = (value: JsonValue | undefined): string[] => (isJsonObject(value) ? Object.keys(value) : [])

const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : [])

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

const wordAfterProgram = (line: string): string => /tributary(?:\.js)? (\w+)$/.exec(line)?.[1] ?? line

function procfile(): Omit<DeployedProcess, 'keys'>[] {
  return [...readFile('Procfile').matchAll(/^(\w+): (.*)$/gm)].map(([, name = '', line = '']) => ({
    file: 'Procfile',
    name,
    command: wordAfterProgram(line)
  }))
}

/** Command by the name of the process: `{ release: 'migrate', web: 'serve', worker: 'work' }`. */
export const procfileCommands: Readonly<Record<string, string>> = Object.fromEntries(
  procfile().map(({ name, command }) => [name, command])
)

function composeProcesses(): DeployedProcess[] {
  const services = valueAt(compose, 'services')
  return keysOf(services)
    .filter((name) => valueAt(services, `${name}.build`) !== undefined)
    .map((name) => ({
      file: 'compose.yaml',
      name: name === 'migrate' ? 'release' : name,
      command: textOf(valueAt(services, `${name}.command.0`)),
      keys: keysOf(valueAt(services, `${name}.environment`))
    }))
}

function renderProcesses(): DeployedProcess[] {
  const groups = listOf(valueAt(render, 'envVarGroups'))
  const keysIn = (owner: JsonValue): string[] =>
    listOf(valueAt(owner, 'envVars')).flatMap((entry) => {
      const group = groups.find((each) => valueAt(each, 'name') === valueAt(entry, 'fromGroup'))
      return group === undefined ? [textOf(valueAt(entry, 'key'))] : keysIn(group)
    })
  return listOf(valueAt(render, 'services')).flatMap((service) => {
    const keys = keysIn(service)
    return ['startCommand', 'preDeployCommand'].flatMap((field) => {
      const line = textOf(valueAt(service, field))
      const name = field === 'preDeployCommand' ? 'release' : textOf(valueAt(service, 'type'))
      return line === '' ? [] : [{ file: 'render.yaml', name, command: wordAfterProgram(line), keys }]
    })
  })
}

function flyProcesses(): DeployedProcess[] {
  const keys = keysOf(valueAt(fly, 'env'))
  const processes = valueAt(fly, 'processes')
  return [
    { file: 'fly.toml', name: 'release', command: textOf(valueAt(fly, 'deploy.release_command')), keys },
    ...keysOf(processes).map((name) => ({
      file: 'fly.toml',
      name,
      command: textOf(valueAt(processes, name)),
      keys
    }))
  ]
}

export const systemdUnits = ['migrate', 'web', 'worker@'].map(
  (name) => `deploy/systemd/tributary-${name}.service`
)

function systemdProcesses(): DeployedProcess[] {
  return systemdUnits.map((file) => {
    const text = readFile(file)
    const name = /tributary-(\w+)/.exec(file)?.[1] ?? ''
    return {
      file,
      name: name === 'migrate' ? 'release' : name,
      command: wordAfterProgram(/^ExecStart=(.*)$/m.exec(text)?.[1] ?? ''),
      keys: [...text.matchAll(/^Environment=(\w+)=/gm)].map(([, key = '']) => key)
    }
  })
}

/** The templates as they are written: what they become is tried with Helm itself, elsewhere. */
function helmProcesses(): DeployedProcess[] {
  return ['migrate', 'web', 'worker'].map((name) => {
    const file = `deploy/helm/templates/${name}.yaml`
    const text = readFile(file)
    return {
      file,
      name: name === 'migrate' ? 'release' : name,
      command: /^ +args: \[(\w+)\]$/m.exec(text)?.[1] ?? '',
      keys: [...text.matchAll(/- name: ([A-Z_]+)\n/g)].map(([, key = '']) => key)
    }
  })
}

function imageProcess(): DeployedProcess {
  const text = readFile('Dockerfile')
  return {
    file: 'Dockerfile',
    name: 'web',
    command: /^CMD \["(\w+)"\]$/m.exec(text)?.[1] ?? '',
    keys: [...text.matchAll(/^ENV (\w+)=|process\.env\.(\w+)/gm)].map(([, set, read]) => set ?? read ?? '')
  }
}

/** Heroku takes the commands from the Procfile. */
function herokuProcesses(): DeployedProcess[] {
  const keys = keysOf(valueAt(heroku, 'env'))
  return [
    ...procfile().map((process) => ({ ...process, keys: [] })),
    ...keysOf(valueAt(heroku, 'formation')).map((name) => ({
      file: 'app.json',
      name,
      command: procfileCommands[name] ?? '',
      keys
    }))
  ]
}

export const deployedProcesses: readonly DeployedProcess[] = [
  ...composeProcesses(),
  ...renderProcesses(),
  ...flyProcesses(),
  ...systemdProcesses(),
  ...helmProcesses(),
  ...herokuProcesses(),
  imageProcess()
]
