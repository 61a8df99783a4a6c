/** Something that a person has done to the catalog: under way, done, or failed with a reason. */
import { useState } from 'preact/hooks'

export type Action = {
  isBusy: boolean
  error: Error | undefined
  /** Runs it, then `done` with what it gave. A second press while it runs is ignored. */
  run: <T>(work: () => Promise<T>, done?: (result: T) => void) => void
  forget: () => void
}

export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; error?: Error }>({ isBusy: false })
  return {
    isBusy: state.isBusy,
    error: state.error,
    run: (work, done) => {
      if (state.isBusy) return
      setState({ isBusy: true })
      work().then(
        (result) => {
          setState({ isBusy: false })
          done?.(result)
        },
        (error: unknown) => {
          setState({ isBusy: false, error: error instanceof Error ? error : new Error(String(error)) })
        }
      )
    },
    forget: () => {
      setState({ isBusy: false })
    }
  }
}
