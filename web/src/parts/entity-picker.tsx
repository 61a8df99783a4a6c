/** A field that finds assets of some types by name and returns the chosen one, as an end of an edge. */
import { useState } from 'preact/hooks'
import { cardOf, type Card } from '../api/entity.ts'
import { pickEntities } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { unfinished } from '../search-words.ts'
import { Combobox } from './combobox.tsx'
import { useFound } from './use-found.ts'

const optionsMaxCount = 20

export function EntityPicker({
  label,
  types,
  pick
}: {
  label: string
  /** The types, as EntityTypes of the schema. */
  types: readonly string[]
  pick: (card: Card) => void
}) {
  const [text, setText] = useState('')
  const found = useFound(text, async (text, signal) => {
    const variables = { query: unfinished(text), types: [...types], count: optionsMaxCount }
    const { searchAcrossEntities: page } = await graphql(pickEntities, variables, signal)
    return page.searchResults.map(({ entity }) => cardOf(entity))
  })
  return (
    <div class="picker stack">
      <Combobox
        label={label}
        text={text}
        setText={setText}
        options={found.options}
        enter={(option) => {
          // The options may still belong to an earlier text.
          if (option && found.text === text) pick(option)
        }}
        pick={pick}
      />
    </div>
  )
}
