/** `tributary load rejects`: prints all rejects of a load, to read, or to fix and send again. */
import { serverOf, serverOptions } from '../client-options.ts'
import { findLoadId } from '../client/find-load.ts'
import { idNote } from '../find-id.ts'
import { isObject } from '../client/load-view.ts'
import { getText } from '../client/ask.ts'
import { parseJson } from '../client/server.ts'
import { paint } from '../colour.ts'
import type { Command } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { printable } from '../printable.ts'
import type { Terminal } from '../terminal.ts'

const pageCount = 1_000
const lastLine = 2 ** 31 - 1

export const loadRejects: Command = {
  notes: [
    idNote,
    'One line of JSON per reject: line, code, message, field, record. On a terminal, line, code and message to read. Prints nothing if nothing was rejected.',
    'For a load of CSV, --csv prints a file with its columns and separator to fix and send again: all rejects that were kept, with line and reason in front.',
    'Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'
  ],
  examples: ['tributary load rejects 0b8f2c1e', 'tributary load rejects 0b8f2c1e --csv > rejects.csv'],
  operands: ['ID'],
  options: {
    csv: { help: 'Print CSV, to fix and send again. Only for loads of CSV.' },
    records: { help: 'Print only the records, as they were sent; those of CSV have no header.' },
    json: { help: 'Print JSON on a terminal too.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const id = await findLoadId(server, input.operands[0] ?? '')
    const isRead = terminal.columns() !== null && !input.isSet('json')
    const isCsv = input.isSet('csv')
    const readPage = (query: string): Promise<string> =>
      getText(server, `loads/${encodeURIComponent(id)}/rejects?${query}`)
    // a page behind every line has only the header
    const header = isCsv ? await readPage(`format=csv&after=${lastLine}`) : ''
    if (isCsv) terminal.out(withoutNewline(header))
    for (let after = 0; ;) {
      const page = `limit=${pageCount}&after=${after}`
      const lines = (await readPage(page)).split('\n').filter((line) => line !== '')
      if (isCsv && lines.length > 0)
        terminal.out(withoutNewline((await readPage(`format=csv&${page}`)).slice(header.length)))
      for (const line of lines) {
        const reject = parseJson(server, line)
        if (!isObject(reject))
          throw new Refusal(
            'Unexpected answer from the server: not a reject. Is this a Tributary server?',
            exitCodes.unreachable
          )
        after = Number(reject.line)
        if (isCsv) continue
        if (input.isSet('records')) terminal.out(String(reject.record))
        else terminal.out(isRead ? rejectLine(terminal, reject) : line)
      }
      if (lines.length < pageCount) return exitCodes.ok
    }
  }
}

const rejectLine = ({ colours }: Terminal, { line, code, message }: Record<string, unknown>): string =>
  `line ${String(line)}: ${paint(printable(String(code)), 'yellow', colours.out)}: ${printable(String(message))}`

const withoutNewline = (text: string): string => text.replace(/\n$/, '')
