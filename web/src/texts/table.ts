/** Words of the table that all lists use. */
import { number } from './numbers.ts'

export const tableTexts = {
  choose: (name: string): string => `Choose ${name}`,
  cannotChoose: 'Nothing can be done with this row: it is a placeholder, or cannot be in a domain.',
  chooseAll: 'Choose all rows',
  /** For tables that do not show all rows yet, or not all rows match. */
  showing: (shown: number, total: number): string =>
    shown === total ? `Showing all ${number(total)}` : `Showing ${number(shown)} of ${number(total)}`
}
