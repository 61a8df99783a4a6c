/** What an empty catalog shows: how to load lineage, in a choice of formats. */
import { Button } from './fields.tsx'
import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Snippet } from './copy-button.tsx'

/** The address of this server without the page, as clients need it. */
const server = (): string => new URL('..', location.href).href.replace(/\/$/, '')

export function FirstLoad() {
  const words = texts.firstLoad
  const [format, setFormat] = useState(0)
  const current = words.formats[format] ?? words.formats[0]
  return (
    <div class="panel stack">
      <h1>{words.title}</h1>
      <p>{words.how}</p>
      <div class="row" role="tablist" aria-label={words.choose}>
        {words.formats.map(({ name }, index) => (
          <Button key={name} role="tab" aria-selected={index === format} run={() => setFormat(index)}>
            {name}
          </Button>
        ))}
      </div>
      {current && (
        <div role="tabpanel" aria-label={current.name} class="stack">
          <p>{current.text}</p>
          <Snippet text={current.command(server())} label={words.command(current.name)} />
        </div>
      )}
    </div>
  )
}
