/** `tributary load FILE`: sends a file through the bulk pipeline and follows it to the end. */
import { readConfig } from '../../shared/platform/config.ts'
import { followLoad, readRejects, type Reject } from '../client/follow-load.ts'
import { openLoadFile } from '../client/load-file.ts'
import { count, perSecond, showProgress } from '../client/load-progress.ts'
import { hasEnded, type LoadView } from '../client/load-view.ts'
import { sendLoad } from '../client/send-load.ts'
import { findServer, type Server } from '../client/server.ts'
import type { Command, CommandInput } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import type { Terminal } from '../terminal.ts'

const rejectsShownCount = 10

export const load: Command = {
  notes: [
    'A name that ends in .gz is sent as it is. Formats: ndjson, and mcp for change proposals of connectors (.json).',
    'Exit code: 0 all applied or unchanged, 1 usage or refused, 2 ended with rejects, 3 failed, aborted or cancelled,',
    '4 server unreachable, 5 still running when --wait had passed (with --wait 0: 0).'
  ],
  operands: ['FILE'],
  options: {
    format: { value: 'NAME', help: 'ndjson or mcp. Default: mcp for .json, else ndjson.' },
    source: { value: 'NAME', help: 'Who states the lineage. Default: as the server names it.' },
    mode: { value: 'NAME', help: 'merge (the default).' },
    atomic: { help: 'All or nothing.' },
    'dry-run': { help: 'Check only.' },
    'missing-references': { value: 'WHAT', help: 'reject or create. Default: as the server is set.' },
    wait: { value: 'SECONDS', help: 'Follow the load for so long at most; 0 prints its id and ends. Default: to its end.' },
    json: { help: 'Print the load and its first rejects as JSON.' },
    url: { value: 'URL', help: 'The server. Default: TRIBUTARY_URL, else this machine.' },
    token: { value: 'TEXT', help: 'The token. Default: TRIBUTARY_TOKEN, else the file of npm start.' }
  },
  async run(input, terminal) {
    const config = readConfig(terminal.env)
    const server = findServer(config, { url: input.text('url'), token: input.text('token') })
    const waitMs = parseWait(input.text('wait'))
    const [path = ''] = input.operands
    const file = openLoadFile(path, { format: input.text('format'), pack: !isThisMachine(server), input: () => terminal.input() })

    const startedAt = Date.now()
    const progress = showProgress(terminal, file)
    let ended: LoadView
    try {
      progress.sending()
      const sent = await sendLoad(server, queryOf(input, file.format), file.body)
      ended = await followLoad(server, sent, { waitMs, onState: state => progress.load(state) })
    } finally {
      progress.end()
    }
    const rejects = ended.counts.rejected > 0 ? await readRejects(server, ended, rejectsShownCount) : []
    report({ ended, rejects, elapsedMs: Date.now() - startedAt, asJson: input.isSet('json') }, terminal)
    return exitCodeOf(ended, waitMs)
  }
}

function queryOf(input: CommandInput, format: string): Record<string, string> {
  const source = input.text('source')
  const missingReferences = input.text('missing-references')
  const mode = input.text('mode')
  return {
    format,
    ...(source === undefined ? {} : { source }),
    ...(mode === undefined ? {} : { mode }),
    ...(missingReferences === undefined ? {} : { missingReferences }),
    ...(input.isSet('atomic') ? { atomic: 'true' } : {}),
    ...(input.isSet('dry-run') ? { dryRun: 'true' } : {})
  }
}

function parseWait(text: string | undefined): number {
  if (text === undefined) return Infinity
  if (!/^\d{1,7}$/.test(text)) throw new Refusal(`--wait takes seconds, not ${text}.`)
  return Number(text) * 1_000
}

function isThisMachine(server: Server): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(server.url).hostname)
}

type Outcome = { ended: LoadView, rejects: readonly Reject[], elapsedMs: number, asJson: boolean }

function report({ ended, rejects, elapsedMs, asJson }: Outcome, terminal: Terminal): void {
  if (asJson) {
    terminal.out(JSON.stringify({ ...ended, rejects }))
    return
  }
  const { received, applied, unchanged, rejected } = ended.counts
  const settled = applied + unchanged + rejected
  for (const { line, code, message } of rejects) terminal.err(`line ${line}: ${code}: ${message}`)
  if (rejected > rejects.length) terminal.err(`… and ${count(rejected - rejects.length)} more: GET /loads/${ended.id}/rejects`)
  terminal.out(`Load ${ended.id} ${hasEnded(ended) ? `is ${ended.state}` : `goes on (${ended.state})`}: ` +
    `${count(received)} received, ${count(applied)} applied, ${count(unchanged)} unchanged, ${count(rejected)} rejected ` +
    `in ${(elapsedMs / 1_000).toFixed(1)} s (${perSecond(settled, elapsedMs)})`)
  if (ended.error !== null) terminal.err(`Reason: ${ended.error}`)
}

function exitCodeOf(ended: LoadView, waitMs: number): number {
  if (!hasEnded(ended)) return waitMs === 0 ? exitCodes.ok : exitCodes.stillRunning
  if (ended.state !== 'done') return exitCodes.loadEnded
  return ended.counts.rejected > 0 ? exitCodes.rejects : exitCodes.ok
}
