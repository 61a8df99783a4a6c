/** Shows what the undo of a load would change, by a dry run of the undo. */
import { Button } from '../../parts/fields.tsx'
import { useState } from 'preact/hooks'
import { tryUndo } from '../../api/loads.ts'
import { Failure, Problem } from '../../parts/states.tsx'
import { useAction } from '../../parts/use-action.ts'
import { loadTexts as words } from '../../texts/loads.ts'
import { Report } from './report.tsx'
import { useLoad } from './use-load.ts'
import { hasEnded } from './verdicts.ts'

/** A dry run is a load as well, so it starts only when the person asks for it. */
export function UndoPreview({ id }: { id: string }) {
  const starting = useAction()
  const [triedId, setTriedId] = useState<string | null>(null)
  const { load: tried, error, retry } = useLoad(triedId)
  const start = (): void => {
    starting.run(
      () => tryUndo(id),
      (load) => {
        setTriedId(load.id)
      }
    )
  }
  if (starting.error) return <Problem of={starting.error} />
  if (error && !tried) return <Failure error={error} retry={retry} />
  if (tried?.error) return <p class="problem">{tried.error}</p>
  if (tried && hasEnded(tried) && tried.report)
    return (
      <div class="stack" data-testid="undo-preview">
        <p>{words.previewCounts(tried.counts.applied, tried.counts.unchanged, tried.counts.rejected)}</p>
        <Report report={tried.report} />
      </div>
    )
  // If the dry run was cancelled elsewhere, it has ended without a report, and the person may ask for it
  // again.
  const isBusy = starting.isBusy || (triedId !== null && !(tried && hasEnded(tried)))
  return (
    <p>
      <Button disabled={isBusy} run={start}>
        {isBusy ? words.previewing : words.preview}
      </Button>
    </p>
  )
}
