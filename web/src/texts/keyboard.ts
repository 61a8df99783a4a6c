/** Words of the list of keyboard shortcuts. */
export const keyboardTexts = {
  title: 'Keyboard shortcuts',
  open: 'Shortcuts (?)',
  groups: [
    {
      name: 'Everywhere',
      keys: [
        { keys: ['?'], does: 'This list' },
        { keys: ['/', 'Ctrl K'], does: 'Search' },
        { keys: ['Tab', 'Shift Tab'], does: 'To the next or the last thing that can be used' },
        { keys: ['Esc'], does: 'Close a list or dialog' }
      ]
    },
    {
      name: 'Tables',
      keys: [
        { keys: ['↑', '↓'], does: 'To another row' },
        { keys: ['Page Up', 'Page Down'], does: 'Ten rows on' },
        { keys: ['Home', 'End'], does: 'To the first or last row' },
        { keys: ['Enter'], does: 'Open the row' },
        { keys: ['Space'], does: 'Choose the row' }
      ]
    },
    {
      name: 'Tree of domains',
      keys: [
        { keys: ['↑', '↓'], does: 'To another domain' },
        { keys: ['→'], does: 'Open; then to the first sub-domain' },
        { keys: ['←'], does: 'Close; then to the domain above' },
        { keys: ['Home', 'End'], does: 'To the first or last domain' },
        { keys: ['Enter'], does: 'Show the domain' },
        { keys: ['a … z'], does: 'To the next name with this letter' }
      ]
    },
    {
      name: 'Lineage',
      keys: [
        { keys: ['←', '→'], does: 'To a neighbour upstream or downstream' },
        { keys: ['↑', '↓'], does: 'To another card of the layer' },
        { keys: ['Enter'], does: 'Details of the card' },
        { keys: ['[', ']'], does: 'Show more upstream or downstream' },
        { keys: ['c'], does: 'Show or hide columns' },
        { keys: ['f', '+', '-', '0'], does: 'Fit, zoom in, zoom out, full size' },
        { keys: ['Esc'], does: 'Clear the choice' }
      ]
    }
  ]
} as const
