/** The legend of the graph: the meaning of colours, lines and numbers. */
import { typeName } from '../texts.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import { colourOf } from './colours.ts'
import { colourings, type Colouring } from './model.ts'
import { Choice } from './toolbar.tsx'
import type { Picture } from './picture.ts'

/** More names than this would be too many for a legend. */
const coloursMaxCount = 24

export function Legend({
  picture,
  colouring,
  choose
}: {
  picture: Picture
  colouring: Colouring
  choose: (colouring: Colouring) => void
}) {
  const colours = new Map<string, { name: string; hue: number }>()
  let isAnyOther = false
  for (const item of picture.items) {
    if (item.kind !== 'card') continue
    const colour = colourOf(item.node, colouring)
    if (colour) colours.set(colour.key, colour)
    else isAnyOther = true
  }
  const named = [...colours.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, coloursMaxCount)
  return (
    <details class="over legend">
      <summary>{words.legend.label}</summary>
      <Choice
        label={words.colourBy}
        values={colourings}
        names={words.colours}
        value={colouring}
        choose={choose}
      />
      <ul>
        {named.map(({ name, hue }) => (
          <li key={name}>
            <span class="dot" style={{ background: `var(--hue-${hue})` }} />
            {colouring === 'type' ? typeName(name) : name}
          </li>
        ))}
        {colours.size > named.length && (
          <li class="soft">{words.legend.more(colours.size - named.length)}</li>
        )}
        {isAnyOther && (
          <li>
            <span class="dot" style={{ background: 'var(--line-strong)' }} />
            {words.legend.other}
          </li>
        )}
      </ul>
      <p class="soft">
        <svg width="34" height="8" aria-hidden="true">
          <path d="M0 4h34" stroke="var(--edge)" stroke-width="1.5" stroke-dasharray="6 5" />
        </svg>{' '}
        {words.legend.loop}, {words.legend.stack}. {words.legend.degree}
      </p>
    </details>
  )
}
