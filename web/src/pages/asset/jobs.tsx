/** The jobs of a flow in the order in which one needs the other, or one job: state, last runs, what each reads and writes. */
import { assetAddress } from '../../address.ts'
import { cardOf, wholeName, type Card } from '../../api/entity.ts'
import { jobRows, type RawJob } from '../../api/run-queries.ts'
import { graphql } from '../../api/request.ts'
import { LastRun, RunStrip, durationText } from '../../parts/run-chip.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { assetTexts } from '../../texts/asset.ts'
import { Section } from './belongings.tsx'

const words = assetTexts.runs
/** The tables of a job that are named. */
const shownCount = 3

type Job = { card: Card; runs: NonNullable<RawJob['runs']>; reads: Card[]; writes: Card[] }

const cardsIn = (page: RawJob['reads']): Card[] =>
  (page?.relationships ?? []).flatMap(({ entity }) => (entity ? [cardOf(entity)] : []))

const jobOf = (raw: RawJob): Job => ({
  card: cardOf(raw),
  runs: raw.runs ?? [],
  reads: cardsIn(raw.reads),
  writes: cardsIn(raw.writes)
})

/** The step of each job: one after the last of those that write what it reads. */
export function stepsOf(jobs: readonly { reads: readonly string[]; writes: readonly string[] }[]): number[] {
  const steps = jobs.map(() => 1)
  // A round for each job is enough without a cycle, and with one there is no order anyway.
  for (let round = 0; round < jobs.length; round += 1)
    for (const [index, { reads }] of jobs.entries())
      for (const [other, { writes }] of jobs.entries())
        if (other !== index && writes.some((urn) => reads.includes(urn)))
          steps[index] = Math.min(jobs.length, Math.max(steps[index] ?? 1, (steps[other] ?? 1) + 1))
  return steps
}

export function Jobs({ urn, isFlow }: { urn: string; isFlow: boolean }) {
  const { data, error, reload } = useResource(`jobs ${urn}`, (signal) => graphql(jobRows, { urn }, signal))
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  const { jobs: page, ...own } = data.entity ?? { urn }
  const raw = isFlow ? (page?.relationships ?? []).flatMap(({ entity }) => entity ?? []) : [own as RawJob]
  const jobs = raw.map(jobOf)
  const urnsOf = (cards: readonly Card[]) => cards.map((card) => card.urn)
  const steps = stepsOf(jobs.map(({ reads, writes }) => ({ reads: urnsOf(reads), writes: urnsOf(writes) })))
  const sorted = jobs
    .map((job, index) => ({ ...job, step: steps[index] ?? 1 }))
    .sort((a, b) => a.step - b.step || wholeName(a.card).localeCompare(wholeName(b.card)))
  const title = isFlow ? assetTexts.belongings.jobs : words.label
  return (
    <Section title={title} {...(isFlow ? { total: page?.total ?? 0 } : {})}>
      {jobs.length === 0 && <p class="soft">{assetTexts.belongings.none}</p>}
      <ul class="list jobs">
        {sorted.map((job) => (
          <li key={job.card.urn} class={isFlow ? 'job' : 'job alone'}>
            {isFlow && (
              <span class="job-name">
                <span class="count" title={words.order}>
                  {job.step}
                </span>{' '}
                <a class="name" href={assetAddress(job.card.urn)}>
                  {job.card.name}
                </a>
              </span>
            )}
            <span class="job-state">
              {job.runs[0] ? (
                <>
                  <LastRun run={{ ...job.runs[0], job: { urn: job.card.urn } }} />
                  <span class="soft">{durationText(job.runs[0])}</span>
                  <RunStrip runs={job.runs} />
                </>
              ) : (
                <span class="soft">{words.none}</span>
              )}
            </span>
            <dl class="job-tables">
              <Tables title={words.reads} cards={job.reads} />
              <Tables title={words.writes} cards={job.writes} />
            </dl>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const Tables = ({ title, cards }: { title: string; cards: readonly Card[] }) =>
  cards.length === 0 ? null : (
    <div>
      <dt>{title}</dt>
      <dd>
        {cards.slice(0, shownCount).map((card) => (
          <a key={card.urn} href={assetAddress(card.urn)} title={card.urn}>
            {wholeName(card)}
          </a>
        ))}
        {cards.length > shownCount && <span class="soft">{words.more(cards.length - shownCount)}</span>}
      </dd>
    </div>
  )
