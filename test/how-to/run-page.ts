/**
 * Does what a page says, as it stands: writes its files, and runs its blocks for the shell in order, in one shell.
 *
 * A command that stays in the foreground (`npm start`, `tributary serve`) gets a terminal of its own, as the
 * reader gives it, and is ended with the page.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { packagePath, packageRoot } from '../../shared/platform/paths.ts'
import { fencesOf, isForShell, type Fence } from '../support/fences.ts'
import { withFolder } from '../support/program.ts'
import { registryEnv } from '../system/support/registry-env.ts'

/** Where the reader is when the page begins. */
export type Setting = {
  /** By default an empty one. */
  folder?: string
  env?: Readonly<Record<string, string>>
  /** Folders of programs that the page needs. */
  path?: readonly string[]
  /** Files that the reader has, by their path in the folder. */
  files?: Readonly<Record<string, string>>
  /** What the reader has done before, in shell. */
  before?: string
  /** What the reader fills in, such as `ID` or `postgres://…`, and with which words of the shell. */
  blanks?: Readonly<Record<string, string>>
  /** Milliseconds for the whole page. */
  maxMs?: number
}

export type Ran = {
  folder: string
  /** What each block for the shell printed, on both outputs. */
  outputs: readonly string[]
}

const pageMaxMs = 300_000
const stopMaxMs = 30_000

const prelude = `
set -euo pipefail
# keep KIND PATTERN COMMAND...: runs it until the end of the page, or until it is given again
declare -A kept=()
keep() {
  local log kind=$1 pattern=$2
  shift 2
  if [ -n "\${kept[$kind]-}" ]; then pkill -P "\${kept[$kind]}" || true; wait "\${kept[$kind]}" || true; fi
  log=$(mktemp "$PAGE_LOGS/keeps-XXXXXX")
  "$@" >"$log" 2>&1 &
  local pid=$!
  kept[$kind]=$pid
  until grep -qE "$pattern" "$log"; do
    kill -0 "$pid" 2>/dev/null || { cat "$log"; return 1; }
    sleep 0.1
  done
  cat "$log"
}
# the last line of the page's output so far that has the word
printed() { cat "$PAGE_LOGS"/*.out | grep -E "$1" | tail -1; }
npm() {
  case "$*" in
    start) keep start Ctrl-C command npm start ;;
    # CI does this for real, as its first step
    'ci' | 'ci '*) ln -sfn "$PACKAGE_ROOT/node_modules" node_modules ;;
    *) command npm "$@" ;;
  esac
}
of_tributary() {
  local name=$1
  shift
  case "\${1-} $#" in
    'serve 1') keep serve 'the API listens' "$name" "$@" ;;
    'work 1') keep work 'worker started' "$name" "$@" ;;
    'up 1') keep up Ctrl-C "$name" "$@" ;;
    *) "$name" "$@" ;;
  esac
}
npx_tributary() { command npx tributary "$@"; }
bare_tributary() { command tributary "$@"; }
npx() { if [ "\${1-}" = tributary ]; then shift; of_tributary npx_tributary "$@"; else command npx "$@"; fi }
tributary() { of_tributary bare_tributary "$@"; }
`

/** Every block of the page must end as the page says, and print what it shows. */
export async function runPage(t: Test, page: string, setting: Setting = {}): Promise<Ran> {
  const logs = withFolder(t)
  const folder = setting.folder ?? withFolder(t)
  for (const [name, text] of Object.entries(setting.files ?? {})) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const fences = fencesOf(page).map((fence) => ({ ...fence, text: filled(t, fence, setting.blanks ?? {}) }))
  const steps = fences.flatMap((fence, index) => stepsOf(fence, join(logs, String(index))))
  writeFileSync(join(logs, 'page.sh'), `${prelude}${setting.before ?? ''}\n${steps.join('\n')}\n`)
  for (const [index, { text }] of fences.entries()) writeFileSync(join(logs, String(index)), text)
  await runShell(logs, folder, setting)

  const outputs: string[] = []
  for (const [index, fence] of fences.entries()) {
    const name = `${page}:${fence.line}`
    if (fence.marks.has('output'))
      t.same(missingLines(fence.text, outputs.at(-1) ?? ''), [], `${name} is printed`, {
        printed: outputs.at(-1)
      })
    if (fence.marks.has('not run') || !(isForShell(fence) || fence.marks.has('run'))) continue
    const output = read(join(logs, `${index}.out`))
    const code = read(join(logs, `${index}.code`)).trim()
    outputs.push(output)
    t.equal(
      code || 'an error before its last command',
      fence.marks.get('exit') ?? '0',
      `${name}: ${fence.text.trim().split('\n')[0] ?? ''}`,
      { text: fence.text, output: output.slice(-2_000) }
    )
    // curl takes an error for an answer
    if (!fence.marks.has('exit')) t.notMatch(output, /"errors":\[|"status":[45]\d\d\b/, name)
    // its shell has ended
    if (code === '') break
  }
  return { folder, outputs }
}

const read = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')

/** What the page's shell does with a block. */
function stepsOf({ marks, language, ...fence }: Fence, file: string): string[] {
  if (marks.has('not run')) return []
  const name = marks.get('file')
  if (name !== undefined) return [`mkdir -p "$(dirname ${name})"; cp ${file} ${name}`]
  const command = marks.get('run')
  if (command === undefined && !isForShell({ marks, language, ...fence })) return []
  const run = command === undefined ? `source ${file}` : `${command} <${file}`
  // without set -e only the last command counts, so only where the page announces a failure
  const [lax, strict] = marks.has('exit') ? ['set +e', '; code=$?; set -e'] : [':', '; code=0']
  return [`${lax}; ${run} >${file}.out 2>&1${strict}; echo $code >${file}.code`]
}

/** The block with its blanks filled in. A word with `…` that nobody fills in is a fault of the test. */
function filled(
  t: Test,
  { page, line, text, marks, language }: Fence,
  blanks: NonNullable<Setting['blanks']>
): string {
  if (marks.has('not run') || marks.has('output')) return text
  let all = text
  for (const [blank, value] of Object.entries(blanks))
    all = all.replaceAll(
      new RegExp(`(?<![\\w$])${blank.replaceAll(/[.*+?^$()[\]{}|\\]/g, '\\$&')}(?!\\w)`, 'g'),
      () => value
    )
  const left = /^[^#\n]*…/m.exec(all)
  if (left !== null && (marks.size > 0 || language === 'sh' || language === 'bash'))
    t.fail(`${page}:${line}: nothing fills in the blank of ${left[0].trim()}`)
  return all
}

async function runShell(
  logs: string,
  folder: string,
  { env, path = [], maxMs = pageMaxMs }: Setting
): Promise<void> {
  // installed as `npm install --global` does it
  const bin = join(logs, 'bin')
  mkdirSync(bin)
  symlinkSync(packagePath('dist/bin/tributary.js'), join(bin, 'tributary'))
  const home = join(logs, 'home')
  mkdirSync(home)
  // Python leaves files there
  const temporary = join(logs, 'tmp')
  mkdirSync(temporary)
  const child = spawn('bash', [join(logs, 'page.sh')], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...registryEnv,
      PATH: [...path, join(process.execPath, '..'), bin, process.env.PATH ?? ''].join(delimiter),
      HOME: home,
      TMPDIR: temporary,
      LANG: 'C.UTF-8',
      npm_config_update_notifier: 'false',
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      PAGE_LOGS: logs,
      PACKAGE_ROOT: packageRoot,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      ...env
    }
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => {
      said += String(part)
    })
  const timer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), maxMs)
  try {
    await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  } finally {
    clearTimeout(timer)
    await endGroup(child.pid)
  }
  if (said !== '') console.log(said.replaceAll(/^/gm, '# '))
}

/** What the page has started goes on after its shell. */
async function endGroup(pid: number | undefined): Promise<void> {
  signalGroup(pid, 'SIGTERM')
  for (const giveUpAt = Date.now() + stopMaxMs; signalGroup(pid, 0); await sleep(50))
    if (Date.now() > giveUpAt) signalGroup(pid, 'SIGKILL')
}

/** False if nothing of the group is left. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** Lines of a page that an output lacks. They are looked for in order. */
export function missingLines(shown: string, output: string): string[] {
  const lines = output.split('\n').map((line) => line.trimEnd())
  let from = 0
  return shown
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => {
      if (line === '' || line === '…') return false
      const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^$()[\]{}|\\]/g, '\\$&'))
      const pattern = new RegExp(`^${parts.join('.*')}$`)
      const at = lines.findIndex((text, index) => index >= from && pattern.test(text))
      if (at >= 0) from = at + 1
      return at < 0
    })
}
