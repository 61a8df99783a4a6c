/** What a load did, or would do, in sentences: by the names that readers use, and without anything that is zero. */
import { isObject, hasEnded, type LoadCounts, type LoadView } from './client/load-view.ts'
import { count, counted } from './quantity.ts'

/** `12 records applied, 3 unchanged`; of an undo, changes that are undone. */
export function countsSentence(load: LoadView): string {
  const words = wordsFor(load)
  const { received, applied, unchanged, rejected } = load.counts
  const rest = received - applied - unchanged - rejected
  return partsOf(words.noun, [
    [applied, words.applied],
    [unchanged, words.unchanged],
    [rejected, words.rejected],
    [rest, () => (hasEnded(load) ? 'left out' : 'waiting')]
  ])
}

/** The same for the sum of several loads. */
export const sumSentence = (counts: LoadCounts, isDryRun: boolean): string =>
  countsSentence({ id: '', state: 'done', error: null, counts, dryRun: isDryRun })

type Phrase = (value: number) => string
type Words = { noun: string; applied: Phrase; unchanged: Phrase; rejected: Phrase }

function wordsFor({ dryRun, mode }: LoadView): Words {
  const isDryRun = dryRun === true
  if (mode === 'undo')
    return {
      noun: 'change',
      applied: () => (isDryRun ? 'would be undone' : 'undone'),
      unchanged: (value) =>
        `${isDryRun ? 'would stay' : value === 1 ? 'stays' : 'stay'}, because something newer has changed or uses ${value === 1 ? 'it' : 'them'}`,
      rejected: () => 'cannot be undone'
    }
  return {
    noun: 'record',
    applied: () => (isDryRun ? 'would be applied' : 'applied'),
    unchanged: () => (isDryRun ? 'would change nothing' : 'unchanged'),
    rejected: () => (isDryRun ? 'would be rejected' : 'rejected')
  }
}

/** The first part that is not zero carries the noun. */
function partsOf(noun: string, parts: readonly (readonly [number, Phrase])[]): string {
  const present = parts.filter(([value]) => value > 0)
  if (present.length === 0) return `no ${noun}s`
  return present
    .map(([value, phrase], at) => `${at === 0 ? counted(value, noun) : count(value)} ${phrase(value)}`)
    .join(', ')
}

/** What a snapshot removed; empty if it removed nothing. */
export function snapshotSentences(load: LoadView): string[] {
  const { snapshot, source, dryRun } = load
  if (!isObject(snapshot)) return []
  const [removed, toRemove, stated] = ['removed', 'toRemove', 'stated'].map((name) =>
    numberIn(snapshot, name)
  )
  const isHeld = snapshot.sweep === 'held'
  if (isHeld)
    return [
      `The snapshot ${dryRun === true ? 'would remove' : 'removes'} nothing, because a rejected record could name any edge. Fix it and send the snapshot again, or retry the load with --force.`
    ]
  if (!removed) return []
  const name = typeof source === 'string' ? source : 'The source'
  const share =
    removed === stated
      ? stated === 1
        ? 'its only edge'
        : `any of its ${count(stated)} edges`
      : stated
        ? `${count(removed)} of its ${count(stated)} edges`
        : counted(removed, 'edge')
  const rest = hasEnded(load) || dryRun === true ? 0 : (toRemove ?? 0) - removed
  const verb = dryRun === true ? 'would no longer state' : 'no longer states'
  return [`${name} ${verb} ${share}${rest > 0 ? `; ${count(rest)} more are to be removed` : ''}.`]
}

/** A heading, and what is listed below it; `total` may be more than that. */
export type Listing = { title: string; total: number; urns: readonly string[] }

/** What a dry run found. */
export type Findings = { sentences: string[]; listings: Listing[] }

export function findingsOf(load: LoadView): Findings {
  const { report } = load
  if (!isObject(report)) return { sentences: [], listings: [] }
  const changes = changesIn(report)
  const affected = isObject(report.affected) ? report.affected : {}
  const [assets, domains] = [listingIn(affected.assets), listingIn(affected.domains)]
  const place = domains.total > 0 ? `, in ${counted(domains.total, 'domain')}` : ''
  const isMore = affected.complete === false
  const reach =
    assets.total === 0
      ? []
      : [
          `${isMore ? 'at least ' : ''}${namedByType(assets)} ${assets.total === 1 ? 'is' : 'are'} changed or downstream${place}`
        ]
  return {
    sentences: [
      changes.length + reach.length === 0
        ? 'Nothing would change.'
        : capitalized(`${[...changes, ...reach].join('; ')}.`),
      ...(report.wouldFail === true ? [whyItWouldFail(load)] : [])
    ],
    listings: [
      { title: 'Changed or downstream:', ...assets },
      { title: 'In the domains:', ...domains }
    ].filter(({ total }) => total > 0)
  }
}

/** `2 edges would be added, 1 removed` */
function changesIn(report: Record<string, unknown>): string[] {
  const domains = isObject(report.domains) ? report.domains : {}
  const entities = isObject(report.entities) ? report.entities : {}
  const byType = Array.isArray(entities.byType) ? entities.byType.filter(isObject) : []
  const created = byType.map(({ type, created: value }) => counted(Number(value), typeWord(String(type))))
  const deletedDomains = numberIn(domains, 'deleted') ?? 0
  const deletedOthers = (numberIn(entities, 'deleted') ?? 0) - deletedDomains
  const deleted = [
    ...(deletedDomains > 0 ? [counted(deletedDomains, 'domain')] : []),
    ...(deletedOthers > 0 ? [counted(deletedOthers, deletedDomains > 0 ? 'other entity' : 'entity')] : [])
  ]
  const one = (value: number | null, say: (value: number) => string): string[] =>
    value === null || value === 0 ? [] : [say(value)]
  return [
    ...edgesIn(report.edges, 'edge'),
    ...edgesIn(report.columnEdges, 'column edge'),
    ...(created.length === 0 ? [] : [`${all.format(created)} would be created`]),
    ...(deleted.length === 0 ? [] : [`${all.format(deleted)} would be deleted`]),
    ...one(
      numberIn(entities, 'placeholders'),
      (value) => `${counted(value, 'placeholder')} would be made for what is missing`
    ),
    ...one(numberIn(domains, 'set'), (value) => `${counted(value, 'asset')} would be put into a domain`),
    ...one(
      numberIn(domains, 'unset'),
      (value) =>
        `${counted(value, 'asset')} would be taken out of ${value === 1 ? 'its domain' : 'their domains'}`
    )
  ]
}

function edgesIn(part: unknown, noun: string): string[] {
  if (!isObject(part)) return []
  const [added, removed] = [numberIn(part, 'added') ?? 0, numberIn(part, 'removed') ?? 0]
  if (added > 0)
    return [`${counted(added, noun)} would be added${removed > 0 ? `, ${count(removed)} removed` : ''}`]
  return removed > 0 ? [`${counted(removed, noun)} would be removed`] : []
}

function whyItWouldFail({ atomic, counts }: LoadView): string {
  return atomic === true && counts.rejected > 0
    ? `The load would fail: it is all or nothing, and ${counted(counts.rejected, 'record')} would be rejected.`
    : 'The load would fail: the snapshot would remove more than the server allows without --force.'
}

/** By type if all are known, otherwise as assets. */
function namedByType({ total, urns }: Omit<Listing, 'title'>): string {
  if (urns.length < total) return counted(total, 'asset')
  const counts = new Map<string, number>()
  for (const urn of urns) {
    const word = typeWord(urn.split(':')[2] ?? '')
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return all.format([...counts].map(([word, value]) => counted(value, word)))
}

const knownTypes: Readonly<Record<string, string>> = {
  corpuser: 'user',
  corpGroup: 'group',
  schemaField: 'column'
}

/** `dataJob` becomes "data job". */
function typeWord(type: string): string {
  return (
    knownTypes[type] ??
    type
      .replace(/^ml(?=[A-Z])/, 'ML')
      .replaceAll(/(?<=[a-z]|ML)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  )
}

function listingIn(part: unknown): Omit<Listing, 'title'> {
  if (!isObject(part) || !Array.isArray(part.urns)) return { total: 0, urns: [] }
  return { total: numberIn(part, 'count') ?? 0, urns: part.urns.map(String) }
}

function numberIn(part: Record<string, unknown>, name: string): number | null {
  const value = part[name]
  return typeof value === 'number' ? value : null
}

const all = new Intl.ListFormat('en-GB', { type: 'conjunction' })

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
