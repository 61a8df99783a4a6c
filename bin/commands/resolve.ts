/** `tributary resolve`: prints the URN that a short reference means, or that an OpenLineage name becomes. */
import { serverOf, serverOptions } from '../client-options.ts'
import { resolveEntity } from '../client/resolve-reference.ts'
import { resolveOpenLineageName } from '../client/resolve-openlineage-name.ts'
import type { Command } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'

export const resolve: Command = {
  notes: [
    'REFERENCE is short for a URN: snowflake:db.schema.table, table@PROD, domain:Finance, Finance/Reporting, or a name that only one entity has. A reference that means several entities is refused, and they are listed.',
    'With --namespace and --name instead of a REFERENCE: the URN that events with this name of a dataset write to, and the rule and the connection that decide it.',
    'Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'
  ],
  examples: [
    'tributary resolve orders@PROD',
    'tributary resolve --namespace postgres://db:5432 --name shop.public.orders'
  ],
  operands: ['[REFERENCE]'],
  options: {
    namespace: { value: 'NAMESPACE', help: 'Namespace of a dataset in OpenLineage events.' },
    name: { value: 'NAME', help: 'Name of the dataset in these events.' },
    json: { help: 'Print the whole answer as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const [reference] = input.operands
    const [namespace, name] = [input.text('namespace'), input.text('name')]
    const isName = namespace !== undefined && name !== undefined && reference === undefined
    const isReference = namespace === undefined && name === undefined && reference !== undefined
    if (!isName && !isReference) throw new Refusal('Give a REFERENCE, or --namespace and --name.')
    const server = await serverOf(input, terminal)
    if (isReference) {
      const resolved = await resolveEntity(server, reference)
      terminal.out(input.isSet('json') ? JSON.stringify(resolved) : resolved.urn)
      return exitCodes.ok
    }
    const resolved = await resolveOpenLineageName(server, namespace ?? '', name ?? '')
    if (input.isSet('json')) terminal.out(JSON.stringify(resolved))
    else {
      terminal.out(resolved.urn)
      const connection = resolved.connection === null ? '' : `, connection: ${resolved.connection}`
      terminal.out(`rule: ${resolved.rule}${connection}`)
    }
    return exitCodes.ok
  }
}
