/** What the web UI must show in a browser, check by check, and the test that shows it. */

/** `tests` are `file: name` below test/, any of which may be of a pure part; `not` says why there is none. */
export type Check = { check: number; what: string } & ({ tests: readonly string[] } | { not: string })

const lineage = (name: string): string => `browser/lineage.test.ts: ${name}`
const views = (name: string): string => `browser/lineage-views.test.ts: ${name}`
const numbers = 'browser/lineage-numbers.test.ts: numbers of the lineage pages'
const impact = (name: string): string => `browser/impact.test.ts: ${name}`
const assets = (name: string): string => `browser/assets.test.ts: ${name}`
const domains = (name: string): string => `browser/domains.test.ts: ${name}`
const loads = (name: string): string => `browser/loads.test.ts: ${name}`
const session = (name: string): string => `browser/session.test.ts: ${name}`
const tokens = (name: string): string => `browser/tokens.test.ts: ${name}`
const layout = (name: string): string => `web/layout.test.ts: ${name}`

/** Tests assert no time, for it depends on the machine. */
const measured = 'a time: measured and printed by npm run bench -- graph-ui'
const firstView = lineage('begins with one hop on each side, and requests no columns')
const columnsOnOff = lineage(
  'columns are drawn when they are switched on, and nothing of them stays when they are off'
)
const pill = lineage('a pill adds exactly the next neighbours, the card stays, and − takes them back')
const columnPath = lineage('a chosen column shows its whole path, also after a reload, until Escape')
const arranged = lineage('no two cards overlap, edges lead to the right, and loops are dashed')
const hover = lineage('hovering highlights everything upstream and downstream without a request')
const typing = assets('typing shows options, Enter opens the chosen one, Escape closes them')
const chips = impact('counts the chips as the API does, and each combination shows and exports the same rows')

export const checks: readonly Check[] = [
  { check: 1, what: 'no column, and none asked for, in the first view', tests: [firstView] },
  { check: 2, what: 'columns on: as many edges of columns as there are', tests: [columnsOnOff] },
  { check: 3, what: 'columns off again: none left, and the start has not moved', tests: [columnsOnOff] },
  {
    check: 4,
    what: 'a chosen column lights its closure, is in the address, and survives a reload',
    tests: [columnPath]
  },
  { check: 5, what: 'Escape clears the chosen column', tests: [columnPath] },
  {
    check: 6,
    what: 'a wide table draws eight rows, and counts the others',
    tests: [
      views('every column of a wide table can be reached in the details, and they are counted'),
      'web/graph-picture.test.ts: a card has at most eight rows, and says how many columns are not shown'
    ]
  },
  { check: 7, what: 'columns switched on and off quickly', tests: [columnsOnOff] },
  { check: 8, what: 'the first view is one hop each side', tests: [firstView] },
  {
    check: 9,
    what: 'a pill adds exactly the next neighbours, the card stays, and takes them back',
    tests: [pill]
  },
  {
    check: 10,
    what: 'the cards within so many hops are the rows of the impact table, in both directions',
    tests: [numbers]
  },
  {
    check: 11,
    what: 'the degree on each card is that of the API',
    tests: [lineage('degrees on the cards are those of the API'), numbers]
  },
  {
    check: 12,
    what: 'no cards overlap, and edges lead to the right',
    tests: [arranged, layout('no two cards overlap, whatever their heights, and each has the size asked for')]
  },
  { check: 13, what: 'cycles are drawn, with dashed loops', tests: [arranged] },
  {
    check: 14,
    what: 'a hub of 5,000 shows ten and a stack',
    tests: [lineage('a hub of 5,000 shows ten neighbours, and a stack with exactly the others')]
  },
  { check: 15, what: 'a diamond has each card once', tests: [lineage('a diamond has each card once')] },
  {
    check: 16,
    what: 'an edge is drawn where it crosses the view, though its ends are outside',
    tests: [lineage('an edge that crosses the view is drawn, even if both its ends are outside')]
  },
  { check: 17, what: 'hidden jobs are bridged', tests: [lineage('hidden jobs are bridged')] },
  {
    check: 18,
    what: 'find focuses a card',
    tests: [lineage('Find moves to a card, Re-centre changes the start, and Back returns')]
  },
  {
    check: 19,
    what: 'a new centre is in the history',
    tests: [lineage('Find moves to a card, Re-centre changes the start, and Back returns')]
  },
  {
    check: 20,
    what: 'an unknown asset is said to be unknown',
    tests: [lineage('an unknown asset has a page that says so')]
  },
  {
    check: 21,
    what: 'a second click on the Lineage tab keeps the graph',
    not: 'the lineage is a page of its own, without tabs'
  },
  { check: 22, what: '1,000 assets are painted in time', not: measured },
  { check: 23, what: '1,000 assets with columns are painted in time', not: measured },
  {
    check: 24,
    what: '5,000 assets are laid out in time',
    tests: [layout('hard graphs are laid out in time')]
  },
  { check: 25, what: 'frames while the view is dragged', not: measured },
  { check: 26, what: 'how long until a hovered card is lit', not: measured },
  { check: 27, what: 'one request for a change of the view, none for hovering', tests: [pill, hover] },
  {
    check: 28,
    what: 'no request to another origin, no violation of the policy',
    tests: [session('the page ${path} breaks no rule of its policy')]
  },
  { check: 29, what: 'chips of degrees filter, with the counts of the API', tests: [chips] },
  { check: 30, what: 'the CSV has the rows of the table, for each combination of chips', tests: [chips] },
  {
    check: 31,
    what: 'the CSV is parsed with commas, quotes, line breaks and formulas',
    tests: [
      impact('exports cells with commas, quotes and line breaks, and none that a spreadsheet would run')
    ]
  },
  {
    check: 32,
    what: '50,000 rows are counted, at most 60 are drawn, End reaches the last',
    tests: ['browser/impact-large.test.ts: fifty thousand rows are counted, and only visible ones are drawn']
  },
  {
    check: 33,
    what: 'text and degree filter together',
    tests: [impact('combines text, degree, platform, domain and owner, and keeps them in the address')]
  },
  { check: 34, what: 'options while typing, by keys, with their roles', tests: [typing] },
  {
    check: 35,
    what: 'an answer that comes late never replaces a newer one',
    tests: [assets('an answer that comes late never replaces a newer one')]
  },
  {
    check: 36,
    what: 'a pasted URN opens its page',
    tests: [assets('a pasted URN opens its page, and an unknown one is named as unknown')]
  },
  { check: 37, what: 'nothing found', tests: [assets('an empty result says what to try')] },
  {
    check: 38,
    what: 'the tree loads the top, and the children of what is opened, once',
    tests: [domains('loads only the top level, and the children of each opened domain once')]
  },
  {
    check: 39,
    what: 'the counts of a domain are the length of its list',
    tests: [domains('counts the listed assets, with sub-domains and without')]
  },
  {
    check: 40,
    what: 'a domain is set, changed and taken away, with undo',
    tests: [assets('a domain is set, changed and taken away, each with undo')]
  },
  { check: 41, what: '10,000 domains', tests: ['browser/domains.test.ts: ten thousand domains'] },
  { check: 42, what: 'the keys of the tree', tests: [domains('moves in the tree by keyboard')] },
  {
    check: 43,
    what: 'a load grows without a reload, to the numbers of the database',
    tests: [loads('grows without a reload, and ends with the numbers of the database')]
  },
  {
    check: 44,
    what: 'rejects with their lines; a retry applies only these',
    tests: [
      loads('shows rejects with line, code, field and record, as plain text'),
      loads('applies only the rejected records again')
    ]
  },
  {
    check: 45,
    what: 'a cut stream of events',
    tests: [loads('is polled while the stream is interrupted, and followed again afterwards')]
  },
  {
    check: 46,
    what: 'a queue that is down',
    tests: [loads('shows that the queue is down, and other pages work')]
  },
  {
    check: 47,
    what: 'cancelling says how many records were applied',
    tests: [loads('grows without a reload, and ends with the numbers of the database')]
  },
  {
    check: 48,
    what: 'sign-in leads back to the wanted page',
    tests: [tokens('leads to sign-in, and from there back to the requested address')]
  },
  {
    check: 49,
    what: 'the secret of a token is shown once',
    tests: [tokens('shows the secret of a new token once, and stores it nowhere')]
  },
  {
    check: 50,
    what: 'a revoked token leads to sign-in',
    tests: [tokens('revokes a token after a dialog that names it; its users must sign in again')]
  },
  {
    check: 51,
    what: 'requests of other origins are refused',
    tests: [session('cannot be used by a page of another site or another port')]
  },
  {
    check: 52,
    what: 'contrast in both themes',
    tests: [
      assets('no page has a fault that axe-core finds, in either theme, nor scrolls sideways at 320 pixels'),
      lineage('axe finds nothing in the ${theme} theme')
    ]
  },
  {
    check: 53,
    what: 'from search to impact by keys alone, with the focus in sight',
    tests: [
      'browser/keyboard.test.ts: search, asset, lineage, expand, columns and impact work with the keyboard alone'
    ]
  },
  {
    check: 54,
    what: 'cards have names for screen readers, and what is added is announced',
    tests: [lineage('the keyboard moves between cards, expands and chooses them, and shows columns'), pill]
  },
  { check: 55, what: 'reduced motion', tests: [lineage('with reduced motion nothing moves by itself')] },
  {
    check: 56,
    what: '320 pixels: nothing scrolls sideways, the graph is a list',
    tests: [lineage('a narrow screen has a list, and does not scroll sideways')]
  },
  {
    check: 57,
    what: 'a copied link shows the same',
    tests: [views('a link copied from any state shows the same cards, columns and choice')]
  },
  {
    check: 58,
    what: 'the SVG has every card and opens alone',
    tests: [lineage('exports contain every card, and the SVG is self-contained')]
  },
  {
    check: 59,
    what: 'an error keeps the picture, and Retry brings the next',
    tests: [lineage('an error keeps the previous picture, and Retry loads the next')]
  },
  {
    check: 60,
    what: 'no error of the console in any test',
    not: 'openPage of test/support/browser.ts fails each test whose page complains'
  }
]
