/** Loads a dropped or chosen file: detects its format, offers a dry run, then loads it. */
import { Problem } from '../../parts/states.tsx'
import { Button, Check, Select } from '../../parts/fields.tsx'
import { useId, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { addressOf } from '../../address.ts'
import { submitLoad, type Load } from '../../api/loads.ts'
import { goTo } from '../../parts/use-address.ts'
import { useAction } from '../../parts/use-action.ts'
import { loadTexts } from '../../texts/loads.ts'
import { formats, guessFormat, headMaxBytes, orderOfArtifacts } from './guess-format.ts'
import { Rejects } from './rejects.tsx'
import { Report } from './report.tsx'
import { useLoad } from './use-load.ts'
import { hasEnded } from './verdicts.ts'
import { VerdictBar } from './verdict-bar.tsx'

const words = loadTexts.drop

type Chosen = { names: string; body: Blob; isGzipped: boolean; format: string }

/** Reads the files. Throws if they cannot be one load. */
async function readChosen(files: readonly File[]): Promise<Chosen> {
  const heads = await Promise.all(
    files.map(async (file) => ({ name: file.name, head: await file.slice(0, headMaxBytes).text() }))
  )
  const [first] = heads
  const [file] = files
  if (!first || !file) throw new Error(words.several)
  if (files.length === 1) {
    const isGzipped = /\.gz$/i.test(file.name)
    return {
      names: file.name,
      body: file,
      isGzipped,
      format: (isGzipped ? null : guessFormat(first.name, first.head)) ?? ''
    }
  }
  const order = orderOfArtifacts(heads)
  if (!order) throw new Error(words.several)
  const ordered = order.flatMap((index) => files[index] ?? [])
  return {
    names: ordered.map(({ name }) => name).join(', '),
    body: new Blob(ordered.flatMap((each) => [each, '\n'])),
    isGzipped: false,
    format: 'dbt'
  }
}

export function DropFile() {
  const id = useId()
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [isOver, setOver] = useState(false)
  const [tried, setTried] = useState<Load | null>(null)
  const choosing = useAction()
  const sending = useAction()
  const take = (list: FileList | null | undefined): void => {
    const files = [...(list ?? [])]
    if (files.length === 0) return
    setTried(null)
    sending.forget()
    choosing.run(() => readChosen(files), setChosen)
  }
  const clear = (): void => {
    setChosen(null)
    setTried(null)
    sending.forget()
  }
  return (
    <section
      class={isOver ? 'panel stack drop over' : 'panel stack drop'}
      aria-labelledby={id}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => {
        setOver(false)
      }}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer?.files)
      }}
    >
      <div class="row apart">
        <div>
          <h2 id={id}>{words.title}</h2>
          <p class="soft">{words.hint}</p>
        </div>
        <label class="button">
          {chosen ? words.clear : words.choose}
          <input
            type="file"
            class="visually-hidden"
            multiple
            onChange={(event) => {
              take(event.currentTarget.files)
              event.currentTarget.value = ''
            }}
          />
        </label>
      </div>
      {chosen && <p>{words.chosen(chosen.names, words.bytes(chosen.body.size))}</p>}
      <Problem of={choosing.error} />
      {chosen && (
        <LoadForm
          key={`${chosen.names} ${chosen.body.size}`}
          chosen={chosen}
          tried={tried}
          setTried={setTried}
          sending={sending}
          clear={clear}
        />
      )}
    </section>
  )
}

function LoadForm({
  chosen,
  tried,
  setTried,
  sending,
  clear
}: {
  chosen: Chosen
  tried: Load | null
  setTried: (load: Load | null) => void
  sending: ReturnType<typeof useAction>
  clear: () => void
}) {
  const { route } = useLocation()
  const [format, setFormat] = useState(chosen.format)
  const [source, setSource] = useState('')
  const [mode, setMode] = useState('')
  const [createsMissing, setCreatesMissing] = useState(true)
  // The result of a dry run with other choices does not apply to these.
  const choosing =
    <Value,>(set: (value: Value) => void) =>
    (value: Value): void => {
      set(value)
      setTried(null)
      sending.forget()
    }
  const send = (isDryRun: boolean): void => {
    const { body, isGzipped } = chosen
    sending.run(
      () => submitLoad({ body, isGzipped, format, source: source.trim(), mode, createsMissing, isDryRun }),
      (load) => {
        if (isDryRun) setTried(load)
        else {
          clear()
          goTo(route, addressOf('loads', { id: load.id }))
        }
      }
    )
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send(tried === null)
      }}
    >
      <div class="form-grid">
        <label class="field">
          {words.format}
          <Select
            label={words.format}
            value={format}
            change={choosing(setFormat)}
            options={[['', words.detect], ...formats.map((name) => [name, name] as const)]}
          />
        </label>
        <label class="field">
          {words.mode}
          <Select
            label={words.mode}
            value={mode}
            change={choosing(setMode)}
            options={[
              ['', words.byFormat],
              ['merge', words.modes.merge],
              ['snapshot', words.modes.snapshot]
            ]}
          />
        </label>
        <label class="field">
          {words.source}
          <input
            type="text"
            maxLength={255}
            value={source}
            onInput={(event) => {
              choosing(setSource)(event.currentTarget.value)
            }}
          />
          <span class="soft">{words.sourceHint}</span>
        </label>
      </div>
      <Check label={words.createsMissing} value={createsMissing} change={choosing(setCreatesMissing)} />
      <Problem of={sending.error} />
      {tried && <Tried id={tried.id} first={tried} />}
      <div class="row">
        <button type="submit" class="primary" disabled={sending.isBusy}>
          {sending.isBusy ? words.sending : tried ? words.loadIt : words.tryIt}
        </button>
        {!tried && (
          <Button disabled={sending.isBusy} run={() => send(false)}>
            {words.loadNow}
          </Button>
        )}
      </div>
    </form>
  )
}

/** A dry run may outlast its request. */
function Tried({ id, first }: { id: string; first: Load }) {
  const followed = useLoad(hasEnded(first) ? null : id)
  const load = followed.load ?? first
  return (
    <div class="stack" role="status" data-testid="tried">
      <VerdictBar load={load} />
      {load.error && <p class="problem">{load.error}</p>}
      {load.report && <Report report={load.report} />}
      {load.counts.rejected > 0 && (
        <Rejects id={id} format={load.format} total={load.counts.rejected} isOver={hasEnded(load)} />
      )}
    </div>
  )
}
