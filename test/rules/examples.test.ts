/** The examples in the help of every command are read by a shell and by the program, so that none can be out of date. */
import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { commandTable } from '../../bin/command-table.ts'
import { readArguments } from '../../bin/program.ts'
import type { Terminal } from '../../bin/terminal.ts'
import { runCommand } from '../support/run-command.ts'

/** The arguments of each call of tributary in a line, as bash makes them. Nothing is run or written. */
function callsIn(t: Test, line: string): string[][] {
  const { stdout, stderr, status } = spawnSync(
    'bash',
    [
      '-c',
      `exec 3>&1 >/dev/null; tributary() { printf '%s\\0' "$@" >&3; printf '\\n\\0' >&3; }; curl() { :; }; ${line}`
    ],
    { cwd: t.testdir({ '.config': { fish: { completions: {} } } }), env: { HOME: '.' }, encoding: 'utf8' }
  )
  if (status !== 0 || stderr !== '') throw new Error(`${line}: ${stderr}`)
  return stdout
    .split('\n\0')
    .slice(0, -1)
    .map((call) => call.split('\0').slice(0, -1))
}

const nowhere = (): never => {
  throw new Error('nothing is printed')
}
const terminal: Terminal = {
  env: {},
  command: 'tributary',
  out: nowhere,
  err: nowhere,
  redraw: null,
  columns: () => null,
  colours: { out: false, err: false },
  input: nowhere,
  ask: null,
  interruption: nowhere
}

t.test('the program takes every example, as a call of the command that it is for', async (t) => {
  for (const { name, open } of commandTable) {
    const { examples } = await open()
    t.ok(examples.length <= 3, `${name} has ${examples.length}`)
    t.equal(new Set(examples).size, examples.length, `${name} has no example twice`)
    for (const line of examples) {
      const calls = callsIn(t, line)
      t.equal(calls.length, 1, line)
      for (const args of calls) t.equal((await readArguments(args, terminal))?.name, name, line)
      t.ok(line.length <= 76, `${line} fits a terminal of 80 columns`)
    }
  }
})

t.test('help ends with the examples, each in one line', async (t) => {
  for (const { name, open } of commandTable) {
    const { examples } = await open()
    for (const columns of [40, 80]) {
      const { out } = await runCommand(['help', ...name.split(' ')], { isTty: true, columns })
      t.strictSame(out.slice(-examples.length - 2), ['', 'Examples:', ...examples.map((line) => `  ${line}`)])
    }
  }
})

t.test('a line that the program would refuse is no example', async (t) => {
  for (const [line, reason] of [
    ['tributary lod edges.csv', /unknown command/],
    ['tributary load edges.csv --dry', /unknown option/],
    ['tributary load list --mode all', /--mode takes/],
    ['tributary domain delete', /missing required argument/],
    ['tributary domain delete Sales Orders', /takes DOMAIN only/],
    ['tributary load --dry-run status 0b8f', /is an option of/],
    ['tributary token create --name', /argument missing/]
  ] as const)
    for (const args of callsIn(t, line))
      await t.rejects(readArguments(args, terminal), { message: reason }, line)
})
