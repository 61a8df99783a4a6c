/** The colours of the states of a load, the same in a list and in a report. */
import type { Colour } from './colour.ts'

const colours: ReadonlyMap<string, Colour> = new Map([
  ['done', 'green'],
  ['failed', 'red'],
  ['aborted', 'red'],
  ['cancelled', 'yellow']
])

export const colourOfState = (state: string): Colour => colours.get(state) ?? 'cyan'
