/** Words of the table that all lists use. */
export const tableTexts = {
  choose: (name: string): string => `Choose ${name}`,
  chooseAll: 'Choose all rows',
  /** For tables that do not show all rows yet, or not all rows match. */
  showing: (shown: number, total: number): string =>
    shown === total
      ? `Showing all ${total.toLocaleString('en')}`
      : `Showing ${shown.toLocaleString('en')} of ${total.toLocaleString('en')}`,
  showingNone: 'Showing 0'
}
