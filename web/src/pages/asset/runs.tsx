/** The runs of a job: the last run with its state and times, then the others. */
import { assetAddress } from '../../address.ts'
import { lastPartOf } from '../../api/entity.ts'
import { runsOfJob } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { When } from '../../parts/when.tsx'
import { assetTexts } from '../../texts/asset.ts'

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
          <dl class="facts-list">
            <div>
              <dt>{words.name}</dt>
              <dd>
                <a href={assetAddress(last.run.urn)}>{lastPartOf(last.run.urn)}</a>
              </dd>
            </div>
            {last.state && (
              <div>
                <dt>{words.state}</dt>
                <dd>{last.state}</dd>
              </div>
            )}
            {last.startedAt !== null && (
              <div>
                <dt>{words.started}</dt>
                <dd>
                  <When millis={last.startedAt} />
                </dd>
              </div>
            )}
            {last.endedAt !== null && (
              <div>
                <dt>{words.ended}</dt>
                <dd>
                  <When millis={last.endedAt} />
                </dd>
              </div>
            )}
          </dl>
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
