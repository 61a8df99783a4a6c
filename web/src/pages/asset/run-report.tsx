/** What is known of one run: its state and times, why it failed, its checks, what it wrote, its SQL and its code. */
import { assetAddress } from '../../address.ts'
import { lastPartOf } from '../../api/entity.ts'
import type { RunReport as Report } from '../../api/run-queries.ts'
import { Snippet } from '../../parts/copy-button.tsx'
import { durationText, StateOf } from '../../parts/run-chip.tsx'
import { When } from '../../parts/when.tsx'
import { assetTexts } from '../../texts/asset.ts'
import type { ComponentChildren } from 'preact'

const words = assetTexts.runs

type Named = { dataset: { urn: string } | null }

export function RunReport({ run: report }: { run: Report }) {
  const { run, state, startedAt, endedAt, error, checksTotal, failedChecksTotal, failedChecks } = report
  return (
    <>
      <dl class="facts-list">
        <Fact title={words.name}>
          <a href={assetAddress(run.urn)}>{lastPartOf(run.urn)}</a>
        </Fact>
        {state && (
          <Fact title={words.state}>
            <StateOf state={state} />
          </Fact>
        )}
        {startedAt !== null && (
          <Fact title={words.started}>
            <When millis={startedAt} />
          </Fact>
        )}
        {endedAt !== null && (
          <Fact title={words.ended}>
            <When millis={endedAt} /> <span class="soft">{durationText(report)}</span>
          </Fact>
        )}
        {report.codeUrl && (
          <Fact title={words.code}>
            <a href={report.codeUrl} rel="noreferrer">
              {report.codeUrl}
            </a>
          </Fact>
        )}
        {checksTotal !== null && (
          <Fact title={words.checks}>{words.checksFailed(failedChecksTotal ?? 0, checksTotal)}</Fact>
        )}
      </dl>
      {error && (
        <section class="stack" aria-label={words.error} data-testid="run-error">
          <h3>{words.error}</h3>
          <pre class="bad run-text" tabIndex={0}>
            {error.message}
          </pre>
          {error.stackTrace !== null && (
            <details>
              <summary>{words.stackTrace}</summary>
              <pre class="run-text" tabIndex={0}>
                {error.stackTrace}
              </pre>
            </details>
          )}
        </section>
      )}
      {failedChecks.length > 0 && (
        <section class="stack" aria-label={words.failedChecks} data-testid="failed-checks">
          <h3>{words.failedChecks}</h3>
          <ul class="list">
            {failedChecks.map((check, index) => (
              <li key={index}>
                {[check.name, check.column, check.severity, check.message]
                  .filter((each) => each !== null)
                  .join(' · ')}{' '}
                <DatasetLink {...check} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <Amounts title={words.written} amounts={report.written} />
      <Amounts title={words.read} amounts={report.read} />
      {report.sql !== null && (
        <section class="stack" aria-label={words.sql}>
          <h3>{words.sql}</h3>
          <Snippet text={report.sql} label={words.sql} />
        </section>
      )}
    </>
  )
}

const Fact = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
)

const DatasetLink = ({ dataset }: Named) =>
  dataset && <a href={assetAddress(dataset.urn)}>{lastPartOf(dataset.urn)}</a>

function Amounts({ title, amounts }: { title: string; amounts: Report['written'] }) {
  if (amounts.length === 0) return null
  return (
    <section class="stack" aria-label={title}>
      <h3>{title}</h3>
      <ul class="list">
        {amounts.map((amount) => (
          <li key={amount.dataset?.urn}>
            <DatasetLink {...amount} />: {words.amount(amount)}
          </li>
        ))}
      </ul>
    </section>
  )
}
