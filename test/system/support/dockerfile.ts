/** Reads the Dockerfile as far as ours goes, and writes its steps as a shell script for a machine without Docker. */
import { readdirSync, readFileSync } from 'node:fs'
import { packagePath, packageRoot } from '../../../shared/platform/paths.ts'
import { quoteForShell } from '../../../bin/quote-for-shell.ts'

export type Step = { name: string; value: string }
export type Stage = { name: string | null; steps: Step[] }

/** The instructions of each stage, without FROM. Throws for an instruction that the script would not carry out. */
export function readDockerfile(): Stage[] {
  const stages: Stage[] = []
  const lines = readFileSync(packagePath('Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  for (const line of lines) {
    const [, name = '', value = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (name === 'FROM') stages.push({ name: / AS (\w+)$/.exec(value)?.[1] ?? null, steps: [] })
    else if (known.includes(name)) stages.at(-1)?.steps.push({ name, value })
    else throw new Error(`the Dockerfile has an instruction that the test does not know: ${line}`)
  }
  return stages
}

const known = ['WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD']

/** The words of an instruction in exec form, such as `["tributary"]`; what is before the array is left out. */
export function wordsOf({ steps }: Stage, name: string): string[] {
  const value = steps.findLast((step) => step.name === name)?.value ?? ''
  return JSON.parse(value.slice(value.indexOf('['))) as string[]
}

export const valueOf = ({ steps }: Stage, name: string): string =>
  steps.findLast((step) => step.name === name)?.value ?? ''

/** What the build may see: the names at the top of the checkout that .dockerignore leaves. */
function contextNames(): string[] {
  const ignored = readFileSync(packagePath('.dockerignore'), 'utf8').trim().split('\n')
  const pattern = ignored.find((name) => /[*!/]/.test(name))
  if (pattern !== undefined)
    throw new Error(`the test knows plain names in .dockerignore only, not ${pattern}`)
  return readdirSync(packageRoot).filter((name) => !ignored.includes(name))
}

/**
 * A script that carries out the stages below `work`, and leaves the last one, read-only, in `work/image`. A stage begins with the files
 * of this machine in place of its base image, except the checkout; what it writes stays in memory. Must run as root in a mount namespace
 * of its own.
 */
export function scriptOf(stages: readonly Stage[], work: string): string {
  const last = `${work}/${stages.length - 1}/root`
  return [
    'set -eu',
    `mount -t tmpfs -o mode=755 tmpfs ${work}`,
    ...stages.flatMap((stage, index) => [
      `mkdir -p ${work}/${index}/upper ${work}/${index}/work ${work}/${index}/root ${work}/context`,
      // the checkout is seen under a name that no program of a stage could guess
      ...(index === 0 ? [`mount --bind ${quoteForShell(packageRoot)} ${work}/context`] : []),
      `mount -t overlay -o lowerdir=/,upperdir=${work}/${index}/upper,workdir=${work}/${index}/work overlay ${work}/${index}/root`,
      ...mountsOf(`${work}/${index}/root`),
      ...stepsOf(stage, stages, work, index)
    ]),
    `mkdir ${work}/image`,
    `mount --bind ${last} ${work}/image`,
    `mount -o remount,bind,ro ${work}/image`,
    ...mountsOf(`${work}/image`)
  ].join('\n')
}

const mountsOf = (root: string): string[] => [
  `mount -t proc proc ${root}/proc`,
  `mount --rbind /dev ${root}/dev`,
  `mount -t tmpfs -o ro tmpfs ${root}${packageRoot}`
]

function stepsOf(stage: Stage, stages: readonly Stage[], work: string, index: number): string[] {
  const root = `${work}/${index}/root`
  let folder = '/'
  const env: string[] = []
  return stage.steps.flatMap(({ name, value }) => {
    if (name === 'WORKDIR') {
      folder = value
      return [`mkdir -p ${root}${folder}`]
    }
    if (name === 'ENV') env.push(value)
    if (name === 'COPY') return copy(value, stages, work, `${root}`, folder)
    if (name !== 'RUN') return []
    const command = `cd ${folder} && ${value}`
    return [
      `chroot ${root} /usr/bin/env ${[...env, '/bin/sh', '-euc'].map(quoteForShell).join(' ')} ${quoteForShell(command)}`
    ]
  })
}

function copy(value: string, stages: readonly Stage[], work: string, root: string, folder: string): string[] {
  const [, from, rest = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(value) ?? []
  const paths = rest.split(' ')
  const target = `${root}${new URL(paths.at(-1) ?? '', `file://${folder}/`).pathname}`
  if (from !== undefined) {
    const index = stages.findIndex((stage) => stage.name === from)
    return [`mkdir -p ${target}`, `cp -a ${work}/${index}/root${paths[0]}/. ${target}`]
  }
  const names = contextNames()
  const sources = paths.slice(0, -1).flatMap((path) => (path === '.' ? names : [path]))
  const missing = sources.find((name) => !names.includes(name))
  if (missing !== undefined) throw new Error(`.dockerignore leaves out ${missing}`)
  return [`cd ${work}/context && cp -a ${sources.map(quoteForShell).join(' ')} ${target}`, 'cd /']
}
