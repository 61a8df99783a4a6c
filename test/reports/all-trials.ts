/** All trials of public reports, by subject, and the table that the page about them has. */
import { columnTrials } from './columns.ts'
import { dbtTrials } from './dbt.ts'
import { domainTrials } from './domains.ts'
import { left } from './left.ts'
import { lineageTrials } from './lineage.ts'
import { openLineageTrials } from './openlineage.ts'
import { searchTrials } from './search.ts'
import type { ReportName, Trial } from './trial.ts'
import { writeTrials } from './writes.ts'

export const trials: { readonly [subject: string]: readonly Trial[] } = {
  lineage: lineageTrials,
  columns: columnTrials,
  openlineage: openLineageTrials,
  dbt: dbtTrials,
  domains: domainTrials,
  search: searchTrials,
  writes: writeTrials
}

export const allReports: readonly ReportName[] = [...Object.values(trials).flat(), ...left].flatMap(
  ({ reports }) => reports
)

/** A link, by which GitHub also finds pull requests: `[DataHub 13854](…)`. */
const linkTo = (report: ReportName): string => {
  const [repository = '', number = ''] = report.split(' ')
  return `[${repository.split('/')[1] ?? ''} ${number}](https://github.com/${repository}/issues/${number})`
}

/** One row for each trial: reports, what was tried, the answer, and the test that holds it or why there is none. */
export const reportTable = (): string =>
  [
    ['Report', 'Tried', 'Answer', 'Held by, or why not'],
    ['---', '---', '---', '---'],
    ...Object.values(trials)
      .flat()
      .map(({ reports, tried, answer, name }) => [
        reports.map(linkTo).join(', '),
        tried,
        answer,
        `*${name}*`
      ]),
    ...left.map(({ reports, tried, why }) => [reports.map(linkTo).join(', '), tried, 'left', why])
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
