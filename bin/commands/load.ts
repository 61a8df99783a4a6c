/** `tributary load FILE...`: sends files through the bulk pipeline, one load each, and follows each to its end. */
import { recordFormats } from '../../shared/formats/load-formats.ts'
import { dialectNames } from '../../shared/sql/dialects.ts'
import { createHash, randomUUID } from 'node:crypto'
import { asCalled } from '../as-called.ts'
import { serverOf, serverOptions } from '../client-options.ts'
import { checkArtifact } from '../client/check-artifact.ts'
import { findInputs, type LoadInput } from '../client/find-inputs.ts'
import { followLoad } from '../client/follow-load.ts'
import { Interrupted } from '../client/interruption.ts'
import { noProgress, showProgress } from '../client/load-progress.ts'
import { count } from '../quantity.ts'
import { exitCodeOf, hasEnded, type LoadCounts, type LoadView } from '../client/load-view.ts'
import { sendUntilAnswered } from '../client/send-again.ts'
import { ServerRefused, type Server } from '../client/server.ts'
import { joinedUpload, uploadOf, type Upload } from '../client/upload.ts'
import type { Command, CommandInput } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { reportLoad } from '../load-report.ts'
import { sumSentence } from '../load-sentences.ts'
import type { Terminal } from '../terminal.ts'
import { loadFromMarquez } from './load-from-marquez.ts'

const formatNames = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(recordFormats)

/** Longer than a server needs to notice that an upload was cut off, and than most need to restart. */
const retryForDefaultSeconds = 180

export const load: Command = {
  notes: [
    'FILE may be a file, a folder (its files that end in .ndjson, .jsonl, .json, .csv or .tsv, plain or with .gz or .zst), a pattern, or - for standard input. Several files are one load each, in order; with --mode snapshot they are joined, because a snapshot is one load.',
    'A CSV may be separated by commas, semicolons, tabs or |, as its header shows. The edges are in its columns upstream and downstream, or source and target, from and to. Other columns are ignored and named.',
    'The manifest.json of a dbt project is a snapshot of the source dbt:PROJECT: edges that the project no longer has are removed. --catalog and --run-results are sent in the same load.',
    'An interrupted upload is sent again under the same Idempotency-Key, so it becomes one load. Ctrl-C stops the upload; after it, the load continues without this command.',
    'Exit code: 0 all applied or unchanged, 2 ended with rejects, 3 failed, aborted or cancelled (or a dry run found that the load would fail), 1 usage or refused, 4 the server cannot be reached or cannot take it now, 5 still running after --wait. For several files the last of 0, 5, 2, 3, 1, 4 that occurred.'
  ],
  examples: [
    'tributary load edges.csv --dry-run',
    'tributary load exports/ --source warehouse --mode snapshot',
    'tributary load target/manifest.json'
  ],
  operands: ['[FILE...]'],
  operandWords: 'files',
  options: {
    format: {
      value: 'NAME',
      help: `${formatNames}. Default: by the name of the file, otherwise by its content.`
    },
    source: {
      value: 'NAME',
      help: 'The source that states the lineage. Default: chosen by the server; dbt:PROJECT for a dbt project.'
    },
    mode: { value: 'NAME', help: 'merge or snapshot. Default: merge; snapshot for a dbt project.' },
    force: { help: 'Let a snapshot remove more than the share that the server allows.' },
    atomic: { help: 'Apply all records, or none.' },
    'dry-run': { help: 'Change nothing, and print what would change.' },
    'missing-references': { value: 'WHAT', help: 'reject or create. Default: as the server is set.' },
    catalog: {
      value: 'FILE',
      help: 'catalog.json of dbt, beside the manifest: all columns with their types.'
    },
    'run-results': { value: 'FILE', help: 'run_results.json of dbt, beside the manifest.' },
    owners: { help: 'dbt: load meta.owner, groups and the owners of exposures as owners.' },
    domains: {
      value: 'WHICH',
      choices: ['unset', 'all'],
      help: 'dbt: load meta.domain as the domain of assets that never had one (unset), or of all.'
    },
    namespace: {
      value: 'TEXT',
      help: 'dbt: the OpenLineage namespace of the warehouse. Default: as its adapter says.'
    },
    dialect: {
      value: 'NAME',
      choices: [...dialectNames],
      help: 'SQL files, which need it: such as postgres, snowflake or bigquery.'
    },
    platform: { value: 'NAME', help: 'SQL: the platform of the tables. Default: that of the dialect.' },
    'platform-instance': { value: 'NAME', help: 'SQL: the platform instance of the tables.' },
    env: { value: 'NAME', help: 'SQL: the environment of the tables. Default: PROD.' },
    database: { value: 'NAME', help: 'SQL: the database of names without one.' },
    schema: { value: 'NAME', help: 'SQL: the schema of names without one.' },
    wait: { value: 'SECONDS', help: 'Follow a load for at most this long. Default: to its end.' },
    'no-wait': { help: 'Print the id of the load and end (exit code 0).' },
    'retry-for': {
      value: 'SECONDS',
      help: `How long to wait for a server that does not answer. Default: ${retryForDefaultSeconds} if it answered before, otherwise 0.`
    },
    'idempotency-key': {
      value: 'TEXT',
      help: 'Loads sent under the same key are one load. Default: a new key for each run.'
    },
    'from-marquez': {
      value: 'URL',
      help: 'Replay the OpenLineage events of this Marquez (or Tributary) instead of files; the same command again continues where it stopped.'
    },
    'marquez-token': { value: 'TEXT', help: 'The token for that server. Default: none.' },
    state: {
      value: 'FILE',
      help: 'The file that stores how far the events were replayed. Default: one in the data folder.'
    },
    compress: {
      value: 'WHEN',
      choices: ['always', 'never', 'auto'],
      help: 'Compress plain files: always, never or auto (the default: not to this machine).'
    },
    json: { help: 'Print each load with its first rejects as one line of JSON.' },
    quiet: { help: 'Print rejects and errors only.' },
    ...serverOptions
  },
  async run(input, terminal) {
    if (input.text('from-marquez') !== undefined) {
      refuseOtherOptions(input)
      return loadFromMarquez(input, terminal)
    }
    if (input.operands.length === 0) throw new Refusal('FILE is missing. See tributary help load.')
    const server = await serverOf(input, terminal)
    const settings = readSettings(input, server)
    const uploads = planUploads(input, settings, terminal)
    const { signal, outcomes, started } = {
      signal: terminal.interruption(),
      outcomes: new Array<Outcome>(),
      started: Date.now()
    }
    for (const open of uploads) {
      const outcome = await loadOne(
        server,
        open(),
        { settings, signal, isOne: uploads.length === 1 },
        terminal
      )
      outcomes.push(outcome)
      if (outcome.isLast) break
    }
    if (uploads.length > 1 && !settings.asJson && !settings.isQuiet)
      summarize(outcomes, uploads.length, Date.now() - started, terminal)
    return worst(outcomes.map(({ exitCode }) => exitCode))
  }
}

/** Options that only apply to files. */
const fileOptions = [
  'format',
  'source',
  'mode',
  'force',
  'atomic',
  'dry-run',
  'missing-references',
  'wait',
  'no-wait',
  'idempotency-key',
  'compress'
]

function refuseOtherOptions(input: CommandInput): void {
  const other = fileOptions.find((name) => input.isSet(name) || input.text(name) !== undefined)
  if (other !== undefined) throw new Refusal(`--${other} and --from-marquez exclude each other.`)
  if (input.operands.length > 0) throw new Refusal('FILE and --from-marquez exclude each other.')
}

type Settings = {
  query: Readonly<Record<string, string>>
  format: string | null
  isSnapshot: boolean
  pack: boolean
  waitMs: number
  retryForMs: number
  waitsForFirst: boolean
  idempotencyKey: string | null
  asJson: boolean
  isQuiet: boolean
}

function readSettings(input: CommandInput, server: Server): Settings {
  const texts = {
    source: input.text('source'),
    mode: input.text('mode'),
    missingReferences: input.text('missing-references'),
    domains: input.text('domains'),
    namespace: input.text('namespace'),
    dialect: input.text('dialect'),
    platform: input.text('platform'),
    platformInstance: input.text('platform-instance'),
    env: input.text('env'),
    database: input.text('database'),
    schema: input.text('schema')
  }
  const switches = {
    force: input.isSet('force'),
    atomic: input.isSet('atomic'),
    dryRun: input.isSet('dry-run'),
    owners: input.isSet('owners')
  }
  const key = input.text('idempotency-key') ?? null
  if (key !== null && !/^[\x21-\x7e]{1,200}$/.test(key))
    throw new Refusal('--idempotency-key takes 1 to 200 visible ASCII characters.')
  if (input.isSet('no-wait') && input.text('wait') !== undefined)
    throw new Refusal('--wait and --no-wait exclude each other.')
  return {
    query: {
      ...Object.fromEntries(
        Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]))
      ),
      ...Object.fromEntries(
        Object.entries(switches).flatMap(([name, isSet]) => (isSet ? [[name, 'true']] : []))
      )
    },
    format: input.text('format') ?? null,
    isSnapshot: texts.mode === 'snapshot',
    pack: readCompress(input.text('compress'), server),
    waitMs: input.isSet('no-wait') ? 0 : (secondsOf(input, 'wait') ?? Infinity),
    retryForMs: secondsOf(input, 'retry-for') ?? retryForDefaultSeconds * 1_000,
    waitsForFirst: input.text('retry-for') !== undefined,
    idempotencyKey: key,
    asJson: input.isSet('json'),
    isQuiet: input.isSet('quiet')
  }
}

function secondsOf(input: CommandInput, option: string): number | null {
  const text = input.text(option)
  if (text === undefined) return null
  if (!/^\d{1,7}$/.test(text)) throw new Refusal(`--${option} takes seconds, not ${text}.`)
  return Number(text) * 1_000
}

function readCompress(text: string | undefined, server: Server): boolean {
  if (text === 'always' || text === 'never') return text === 'always'
  return !['localhost', '127.0.0.1', '[::1]'].includes(new URL(server.url).hostname)
}

/** One load to send; its input is opened when its turn comes. */
type Sending = { upload: Upload; file: string; idempotencyKey: string }

function planUploads(input: CommandInput, settings: Settings, terminal: Terminal): (() => Sending)[] {
  const inputs = findInputs(input.operands)
  const beside = (['catalog', 'run-results'] as const).flatMap((kind) => {
    const path = input.text(kind)
    return path === undefined ? [] : findInputs([path]).map((file) => ({ kind, file }))
  })
  const options = { format: settings.format, pack: settings.pack, input: () => terminal.input() }
  const run = settings.idempotencyKey ?? `cli-${randomUUID()}`
  const joined = (all: readonly LoadInput[], format: string | null): (() => Sending)[] => [
    () => ({
      upload: joinedUpload(all, { ...options, format }),
      file: all.map(({ path }) => path).join(' '),
      idempotencyKey: run
    })
  ]
  if (beside.length > 0) {
    if (inputs.length > 1 || (settings.format ?? 'dbt') !== 'dbt')
      throw new Refusal('--catalog and --run-results are for the manifest.json of one dbt project.')
    for (const file of inputs) checkArtifact(file, 'load', 'manifest')
    for (const { kind, file } of beside) checkArtifact(file, `--${kind}`, kind)
    return joined([...inputs, ...beside.map(({ file }) => file)], 'dbt')
  }
  if (settings.isSnapshot && inputs.length > 1) return joined(inputs, settings.format)
  return inputs.map((each) => () => ({
    upload: uploadOf(each, options),
    file: each.path,
    idempotencyKey: inputs.length === 1 ? run : idempotencyKeyOf(run, each)
  }))
}

/** The key of each file is the same in the next run, so that an interrupted run continues where it was. */
function idempotencyKeyOf(run: string, { path }: LoadInput): string {
  return `${run}:${createHash('sha256').update(path).digest('hex').slice(0, 16)}`
}

type Outcome = { name: string; load: LoadView | null; exitCode: number; isLast: boolean }
type Context = { settings: Settings; signal: AbortSignal; isOne: boolean }

/** Does not throw expected errors, so that the other files continue. */
async function loadOne(
  server: Server,
  sending: Sending,
  { settings, signal, isOne }: Context,
  terminal: Terminal
): Promise<Outcome> {
  const { upload, file } = sending
  const { asJson, isQuiet } = settings
  const name = isOne ? null : upload.name
  const startedAt = Date.now()
  try {
    const { load: ended, isReplay } = await sendAndFollow(server, sending, { settings, signal }, terminal)
    const elapsedMs = Date.now() - startedAt
    await reportLoad(
      server,
      ended,
      {
        name,
        file,
        asJson,
        isQuiet,
        elapsedMs,
        isReplay,
        place: (line) => {
          const place = ended.format === 'dbt' ? `record ${line}` : upload.place(line)
          return isOne ? place : `${upload.name} ${place}`
        }
      },
      terminal
    )
    const exitCode = settings.waitMs === 0 && !hasEnded(ended) ? exitCodes.ok : exitCodeOf(ended)
    return { name: upload.name, load: ended, exitCode, isLast: false }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const code = error instanceof ServerRefused ? error.code : null
    if (asJson)
      terminal.out(
        JSON.stringify({ file, error: { code, message: error.message }, exitCode: error.exitCode })
      )
    terminal.err(
      `${name === null ? '' : `${name}: `}${asCalled(error.message, terminal.command)}${code === 'SNAPSHOT_REMOVES_TOO_MUCH' ? ' (--force)' : ''}`
    )
    // an error that will also end the other files
    const isLast =
      error instanceof Interrupted ||
      error.exitCode === exitCodes.unreachable ||
      (error instanceof ServerRefused && [401, 403].includes(error.status))
    return { name: upload.name, load: null, exitCode: error.exitCode, isLast }
  } finally {
    await upload.close()
  }
}

async function sendAndFollow(
  server: Server,
  { upload, idempotencyKey }: Sending,
  { settings, signal }: Omit<Context, 'isOne'>,
  terminal: Terminal
): Promise<{ load: LoadView; isReplay: boolean }> {
  // Lines may be records or events: the server decides.
  const format = settings.format === null && upload.format === 'ndjson' ? null : upload.format
  const progress = settings.isQuiet ? noProgress : showProgress(terminal, upload)
  const query = format === null ? settings.query : { format, ...settings.query }
  let wasReached = false
  try {
    const { load: sent, isReplay } = await sendUntilAnswered(server, upload, {
      query,
      idempotencyKey,
      signal,
      retryForMs: settings.retryForMs,
      waitsForFirst: settings.waitsForFirst,
      onConnect: () => {
        wasReached = true
      },
      onWait: (reason, waitMs) => {
        progress.waiting(reason, waitMs)
      }
    }).catch((error: unknown) => {
      throw withUploadOutcome(error, upload, {
        idempotencyKey,
        wasReached,
        command: terminal.command
      })
    })
    const ended = await followLoad(server, sent, {
      waitMs: settings.waitMs,
      silenceMaxMs: settings.retryForMs,
      signal,
      onState: (state) => {
        progress.load(state)
      }
    }).catch((error: unknown) => {
      throw withNextCommands(error, sent, terminal.command)
    })
    return { load: ended, isReplay }
  } finally {
    progress.end()
  }
}

/** Adds the result of an upload that was interrupted. */
function withUploadOutcome(
  error: unknown,
  { totalBytes, sent }: Upload,
  { idempotencyKey, wasReached, command }: { idempotencyKey: string; wasReached: boolean; command: string }
): unknown {
  if (!(error instanceof Interrupted)) return error
  const isWhole = totalBytes !== null && sent().bytes >= totalBytes
  error.message += !wasReached
    ? ' The server was not reached, and nothing was sent.'
    : isWhole
      ? ` The whole upload had been sent: ${command} load list shows whether it was accepted. To send it again safely: --idempotency-key ${idempotencyKey}`
      : ' The upload was stopped, and nothing of it is applied.'
  return error
}

/** Adds the commands to continue with, because the server has the load whatever happened to this command. */
function withNextCommands(error: unknown, { id }: LoadView, command: string): unknown {
  if (!(error instanceof Refusal)) return error
  error.message += ` Load ${id} continues without this command. To follow it: ${command} load status ${id} --follow. To end it: ${command} load cancel ${id}`
  return error
}

function summarize(
  outcomes: readonly Outcome[],
  fileCount: number,
  elapsedMs: number,
  terminal: Terminal
): void {
  const sum = (of: keyof LoadCounts): number =>
    outcomes.reduce((total, { load: ended }) => total + (ended?.counts[of] ?? 0), 0)
  const counts = {
    received: sum('received'),
    applied: sum('applied'),
    unchanged: sum('unchanged'),
    rejected: sum('rejected')
  }
  const isDryRun = outcomes.some(({ load: ended }) => ended?.dryRun === true)
  const failed = outcomes.filter(({ load: ended }) => ended === null).map(({ name }) => name)
  const unsent = fileCount - outcomes.length
  terminal.out(
    `${count(outcomes.length - failed.length)} of ${count(fileCount)} files: ${sumSentence(counts, isDryRun)} in ${(elapsedMs / 1_000).toFixed(1)} s` +
      (failed.length === 0 ? '' : `; not loaded: ${failed.join(', ')}`) +
      (unsent === 0 ? '' : `; ${count(unsent)} not tried`)
  )
}

/** Exit codes from best to worst: the worst one of all files is returned. */
const severity: readonly number[] = [
  exitCodes.ok,
  exitCodes.stillRunning,
  exitCodes.rejects,
  exitCodes.loadEnded,
  exitCodes.refused,
  exitCodes.unreachable
]

function worst(codes: readonly number[]): number {
  // a signal is worse than all of them, and not in the list
  const rank = (code: number): number => (severity.includes(code) ? severity.indexOf(code) : severity.length)
  return codes.reduce((found, code) => (rank(code) > rank(found) ? code : found), exitCodes.ok)
}
