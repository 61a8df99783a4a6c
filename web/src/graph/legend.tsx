/** The legend of the graph: the meaning of colours and lines, with the number of cards of each colour. */
import { Button } from '../parts/fields.tsx'
import { texts } from '../texts.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import type { Colours } from './colours.ts'
import { colourings, type Colouring } from './model.ts'
import type { CardItem } from './picture.ts'
import type { Stage } from './stage.ts'
import { Choice } from './toolbar.tsx'

type Props = {
  stage: Stage
  cards: readonly CardItem[]
  colours: Colours
  colouring: Colouring
  choose: (colouring: Colouring) => void
  goTo: (id: string) => void
}

/** The cards of a value are highlighted while it is pointed at or has the keyboard: colour alone tells too little. A press goes to the first. */
export function Legend({ stage, cards, colours, colouring, choose, goTo }: Props) {
  const cardsOf = (key: string | null): string[] =>
    cards.filter(({ node }) => (colours.of(node)?.key ?? null) === key).map(({ id }) => id)
  const light = (key: string | null) => (): void => {
    stage.ofValue.value = new Set(cardsOf(key))
  }
  const leave = (): void => {
    stage.ofValue.value = null
  }
  const entry = (key: string | null, name: string, count: number, hue: string, note: string) => (
    <li key={key}>
      <Button
        class="plain"
        onPointerEnter={light(key)}
        onPointerLeave={leave}
        onFocus={light(key)}
        onBlur={leave}
        run={() => goTo(cardsOf(key)[0] ?? '')}
      >
        <span class="dot" style={{ background: `var(--${hue})` }} />
        <span>
          {name} {note && <span class="soft">{note}</span>}
        </span>
        <span class="soft">{texts.count(count)}</span>
      </Button>
    </li>
  )
  return (
    <div class="legend" role="group" aria-label={words.legend.label} data-testid="legend">
      <Choice
        label={words.colourBy}
        values={colourings}
        names={words.colours}
        value={colouring}
        choose={choose}
      />
      <ul aria-label={words.colours[colouring]}>
        {colours.values.map(({ key, name, hue, count, sharedWith }) =>
          entry(key, name, count, `hue-${hue}`, sharedWith === null ? '' : words.legend.shared(sharedWith))
        )}
        {colours.otherCount > 0 &&
          entry(null, words.legend.without[colouring], colours.otherCount, 'line-strong', '')}
      </ul>
      <span class="soft">
        <svg width="34" height="8" aria-hidden="true">
          <path d="M0 4h34" stroke="var(--edge)" stroke-width="1.5" stroke-dasharray="6 5" />
        </svg>{' '}
        {words.legend.dashed}
      </span>
    </div>
  )
}
