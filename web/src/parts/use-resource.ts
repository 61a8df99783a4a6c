/** Loads what a page shows, again when its key changes; the last answer stays until the next is there, and a late one never replaces a newer one. */
import { useCallback, useEffect, useState } from 'preact/hooks'

export type Resource<T> = {
  data: T | undefined
  error: Error | undefined
  isLoading: boolean
  /** Asks once more; what was there stays. */
  reload: () => void
  /** Shows something else until the next answer, for a change that was just made. */
  replace: (data: T) => void
}

/** `key` says what is asked for; null asks for nothing. */
export function useResource<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [state, setState] = useState<{ key: string | null; data?: T; error?: Error; isLoading: boolean }>({
    key: null,
    isLoading: key !== null
  })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    if (key === null) return
    const ending = new AbortController()
    setState((last) => ({ ...last, isLoading: true }))
    load(ending.signal).then(
      (data) => {
        if (!ending.signal.aborted) setState({ key, data, isLoading: false })
      },
      (error: unknown) => {
        if (ending.signal.aborted) return
        const failure = error instanceof Error ? error : new Error(String(error))
        setState((last) => ({ ...last, key, error: failure, isLoading: false }))
      }
    )
    return () => {
      ending.abort()
    }
    // `load` is made anew by every drawing; the key says when it asks for something else.
  }, [key, turn])
  const reload = useCallback(() => {
    setTurn((turn) => turn + 1)
  }, [])
  const replace = useCallback(
    (data: T) => {
      setState({ key, data, isLoading: false })
    },
    [key]
  )
  return { data: state.data, error: state.error, isLoading: state.isLoading, reload, replace }
}
