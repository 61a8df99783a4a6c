/** The changes that a dry run found. */
import { Fragment } from 'preact'
import type { LoadReport } from '../../api/loads.ts'
import { assetAddress } from '../../address.ts'
import { loadTexts } from '../../texts/loads.ts'

const words = loadTexts.drop

export const changesNothing = ({ edges, columnEdges, domains, entities }: LoadReport): boolean =>
  [
    edges.added,
    edges.removed,
    columnEdges.added,
    columnEdges.removed,
    domains.created,
    domains.set,
    domains.unset,
    entities.created,
    entities.deleted ?? 0,
    entities.placeholders
  ].every((count) => count === 0)

export const Report = ({ report }: { report: LoadReport }) => {
  const { edges, columnEdges, domains, entities, affected } = report
  if (changesNothing(report)) return <p data-testid="report">{words.triedNothing}</p>
  return (
    <div class="stack" data-testid="report">
      <h2>{words.tried}</h2>
      <ul class="plain-list">
        <li>{words.edges(edges.added, edges.removed)}</li>
        <li>{words.columnEdges(columnEdges.added, columnEdges.removed)}</li>
        <li>{words.entities(entities.created, entities.deleted ?? 0, entities.placeholders)}</li>
        <li>{words.domains(domains.created, domains.deleted ?? 0, domains.set, domains.unset)}</li>
      </ul>
      <details>
        <summary>{words.affected(affected.assets.count, affected.domains.count, affected.complete)}</summary>
        <ul class="plain-list urns">
          {[affected.domains, affected.assets].map(({ count, urns }, kind) => (
            <Fragment key={kind}>
              {urns.map((urn) => (
                <li key={urn}>
                  <a href={assetAddress(urn)}>{urn}</a>
                </li>
              ))}
              {count > urns.length && (
                <li class="soft">{words.affectedCut(kind === 0, count - urns.length)}</li>
              )}
            </Fragment>
          ))}
        </ul>
      </details>
    </div>
  )
}
