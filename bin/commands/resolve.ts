/** `tributary resolve REFERENCE`: the URN that a short reference means. */
import { serverOf, serverOptions } from '../client-options.ts'
import { resolveEntity } from '../client/resolve-reference.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'

export const resolve: Command = {
  notes: [
    'REFERENCE is short for a URN: snowflake:db.schema.table, table@PROD, domain:Finance, Finance/Reporting, or a name that only one entity has. Nothing is guessed: where several are meant they are listed.',
    'Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'
  ],
  operands: ['REFERENCE'],
  options: { json: { help: 'Print urn, type and exists as JSON.' }, ...serverOptions },
  async run(input, terminal) {
    const resolved = await resolveEntity(serverOf(input, terminal), input.operands[0] ?? '')
    terminal.out(input.isSet('json') ? JSON.stringify(resolved) : resolved.urn)
    return exitCodes.ok
  }
}
