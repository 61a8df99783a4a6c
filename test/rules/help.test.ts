/**
 * The help of every command, held as files, for narrow and wide terminals and for a pipe. To write them again: WRITE_RENDERED=1 npm test
 * -- test/rules/help.test.ts
 */
import t from 'tap'
import { commandTable } from '../../bin/command-table.ts'
import { widthOf } from '../../bin/text-width.ts'
import { matchesFile } from '../support/rendered.ts'
import { runCommand } from '../support/run-command.ts'

t.test('help', async (t) => {
  for (const columns of [60, 80, 200])
    for (const name of ['', 'load', 'search', 'token list']) {
      const { out } = await runCommand(['help', ...name.split(' ').filter((word) => word !== '')], {
        isTty: true,
        columns
      })
      for (const line of out) t.ok(widthOf(line) <= columns, `${columns}: ${line}`)
      matchesFile(t, `help${name === '' ? '' : '-'}${name.replace(' ', '-')}-${columns}`, out)
    }
  const all: string[] = []
  for (const { name } of commandTable) {
    const { out } = await runCommand([...name.split(' '), '--help'])
    all.push(`--- ${name}`, ...out)
  }
  matchesFile(t, 'help-of-all-in-a-pipe', all)
})

t.test('help names the command line once as it is called, wherever its lines are broken', async (t) => {
  for (const columns of [60, 80, 100])
    for (const { name } of commandTable) {
      const { out } = await runCommand([...name.split(' '), '--help'], {
        isTty: true,
        columns,
        command: 'npx tributary'
      })
      const text = out.join('\n')
      t.notMatch(text, /npx\s+npx/, `${name} in ${columns} columns`)
      t.notMatch(text, /(?<!npx\s+)tributary up/, `${name} in ${columns} columns`)
    }
})
