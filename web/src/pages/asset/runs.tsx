/** The runs of a job: the last run with what is known of it, then the others. And one run by itself. */
import { assetAddress } from '../../address.ts'
import { lastPartOf } from '../../api/entity.ts'
import { reportOfRun, runsOfJob } from '../../api/run-queries.ts'
import { graphql } from '../../api/request.ts'
import { durationText, RunStrip, StateOf } from '../../parts/run-chip.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { When } from '../../parts/when.tsx'
import { assetTexts } from '../../texts/asset.ts'
import { RunReport } from './run-report.tsx'

const words = assetTexts.runs
const shownCount = 100

export function Runs({ urn }: { urn: string }) {
  const { data, error, reload } = useResource(urn, (signal) =>
    graphql(runsOfJob, { urn, count: shownCount }, signal)
  )
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  const { lastRun: last, runs: dated, all } = data.dataJob ?? {}
  const known = new Set(dated?.map(({ run }) => run.urn))
  const others = (all?.relationships ?? []).flatMap(({ entity }) =>
    entity && !known.has(entity.urn) ? entity : []
  )
  if (!last && !dated?.length && others.length === 0)
    return (
      <Empty title={words.none}>
        <p>{words.noneHint}</p>
      </Empty>
    )
  return (
    <div class="stack">
      {last && (
        <section class="panel stack" aria-labelledby="last-run">
          <h2 id="last-run">{assetTexts.facts.lastRun}</h2>
          <RunReport run={last} />
        </section>
      )}
      {(dated?.length || others.length > 0) && (
        <section class="panel stack" aria-labelledby="all-runs">
          <div class="row apart">
            <h2 id="all-runs">{words.label}</h2>
            {dated && <RunStrip runs={dated} />}
          </div>
          {all && all.total > all.relationships.length && (
            <p>{words.cut(all.relationships.length, all.total)}</p>
          )}
          <ul class="list">
            {dated?.map((run) => (
              <li key={run.run.urn} class="row run-row">
                <StateOf state={run.state} />
                <a href={assetAddress(run.run.urn)}>
                  {run.startedAt === null ? lastPartOf(run.run.urn) : <When millis={run.startedAt} />}
                </a>
                <span class="soft">{durationText(run)}</span>
              </li>
            ))}
            {others.map(({ urn, name }) => (
              <li key={urn}>
                <a href={assetAddress(urn)}>{name ?? lastPartOf(urn)}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

export function Run({ urn }: { urn: string }) {
  const { data, error, reload } = useResource(`run ${urn}`, (signal) => graphql(reportOfRun, { urn }, signal))
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  const report = data.dataProcessInstance?.jobRun
  if (!report)
    return (
      <Empty title={words.unknown}>
        <p>{words.unknownHint}</p>
      </Empty>
    )
  return (
    <section class="panel stack" aria-labelledby="this-run">
      <h2 id="this-run">{words.name}</h2>
      <RunReport run={report} />
    </section>
  )
}
