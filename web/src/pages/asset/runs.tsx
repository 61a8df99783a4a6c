/** The runs of a job: the last run with what is known of it, then the others. And one run by itself. */
import { assetAddress } from '../../address.ts'
import { lastPartOf } from '../../api/entity.ts'
import { reportOfRun, runsOfJob } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { useResource } from '../../parts/use-resource.ts'
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
  const last = data.dataJob?.lastRun
  const runs = data.dataJob?.relationships
  if (!last && !runs?.relationships.length)
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
      {runs && runs.relationships.length > 0 && (
        <section class="panel stack" aria-labelledby="all-runs">
          <h2 id="all-runs">{words.label}</h2>
          {runs.total > runs.relationships.length && (
            <p>{words.more(runs.relationships.length, runs.total)}</p>
          )}
          <ul class="list">
            {runs.relationships.flatMap(({ entity }) =>
              entity
                ? [
                    <li key={entity.urn}>
                      <a href={assetAddress(entity.urn)}>{entity.name ?? lastPartOf(entity.urn)}</a>
                    </li>
                  ]
                : []
            )}
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
