/** The answer of the impact page in one look: how much is affected, in which domains, and whose it is. */
import { Button } from '../parts/fields.tsx'
import { useMemo } from 'preact/hooks'
import type { ImpactCounts } from '../api/queries.ts'
import { ShowAll } from '../parts/show-all.tsx'
import type { Address } from '../parts/use-address.ts'
import { impactTexts as words } from '../texts/impact.ts'
import { noDomain, type ImpactQuestion } from './impact-question.ts'
import { countOwners, type ImpactRow } from './impact-rows.ts'
import '../style/impact.css'

/** The number of domains and owners that are shown at first. */
const listedFirstCount = 12

/** The server counts the domains over all results; owners are counted over the rows that are loaded. */
export function Affected({
  counts,
  rows,
  total,
  question,
  address
}: {
  counts: ImpactCounts
  rows: readonly ImpactRow[]
  /** Undefined before the first rows have come. */
  total: number | undefined
  question: ImpactQuestion
  address: Address
}) {
  const { owners, withoutCount } = useMemo(() => countOwners(rows), [rows])
  const domains = counts.domains.flatMap(({ domain, count }) => (domain ? [{ domain, count }] : []))
  const inNone = counts.domains.find(({ domain }) => domain === null)?.count ?? 0
  const isUp = question.direction === 'UPSTREAM'
  return (
    <div class="panel affected">
      <div class="row apart">
        <h2>{words.answer(counts.total, isUp, question.column !== null)}</h2>
        <div class="row" role="group" aria-label={words.direction}>
          {([false, true] as const).map((up) => (
            <Button
              key={String(up)}
              aria-pressed={isUp === up}
              title={up ? words.upHint : words.downHint}
              run={() => address.change({ dir: up ? 'up' : null })}
            >
              {up ? words.up : words.down}
            </Button>
          ))}
        </div>
      </div>
      <div class="stack" data-testid="domains-affected">
        <h3>{words.domainsAffected(domains.length)}</h3>
        <div class="row">
          <ShowAll
            items={domains}
            firstCount={listedFirstCount}
            label={words.domainsAffected(domains.length)}
            draw={({ domain, count }) => (
              <a key={domain.urn} class="chip" href={address.with({ domain: domain.urn })}>
                {words.chip(domain.properties?.name ?? domain.urn, count)}
              </a>
            )}
          />
          {inNone > 0 && (
            <a class="chip" href={address.with({ domain: noDomain })}>
              {words.chip(words.noDomain, inNone)}
            </a>
          )}
        </div>
      </div>
      <div class="stack" data-testid="owners-affected">
        <h3>{total === undefined ? words.countingOwners : words.ownersAffected(owners.length)}</h3>
        <div class="row">
          <ShowAll
            items={owners}
            firstCount={listedFirstCount}
            label={words.ownersAffected(owners.length)}
            draw={({ urn, name, count }) => (
              <a key={urn} class="chip" href={address.with({ owner: urn })}>
                {words.chip(name, count)}
              </a>
            )}
          />
          {withoutCount > 0 && <span class="chip">{words.withoutOwner(withoutCount)}</span>}
          <span class="soft">{words.ownersOfLoaded(rows.length, total ?? 0)}</span>
        </div>
      </div>
    </div>
  )
}
