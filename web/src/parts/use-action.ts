/** A change to the catalog that a person started: running, done, or failed with a reason. */
import { useRef, useState } from 'preact/hooks'

export type Action = {
  isBusy: boolean
  error: Error | undefined
  /** Runs the work, then `done` with its result. A second press while it runs is ignored. */
  run: <T>(work: () => Promise<T>, done?: (result: T) => void) => void
  /** Ignores the result of the running work. */
  forget: () => void
}

export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; error?: Error }>({ isBusy: false })
  const turn = useRef(0)
  return {
    isBusy: state.isBusy,
    error: state.error,
    run: (work, done) => {
      if (state.isBusy) return
      setState({ isBusy: true })
      const own = (turn.current += 1)
      work().then(
        (result) => {
          if (own !== turn.current) return
          setState({ isBusy: false })
          done?.(result)
        },
        (error: unknown) => {
          if (own !== turn.current) return
          setState({ isBusy: false, error: error instanceof Error ? error : new Error(String(error)) })
        }
      )
    },
    forget: () => {
      turn.current += 1
      setState({ isBusy: false })
    }
  }
}
