/**
 * Loads what a page shows, and loads it again when its key changes. An answer is only shown under its own
 * key, and a late answer never replaces a newer one.
 */
import { useCallback, useEffect, useState } from 'preact/hooks'

export type Resource<T> = {
  /** The answer for the present key. It stays while the same key is loaded again, and if that fails. */
  data: T | undefined
  /** The last answer for any key, for lists that stay visible until the next answer. */
  last: T | undefined
  /** Why there is no newer answer for the present key. */
  error: Error | undefined
  isLoading: boolean
  /** Loads again. */
  reload: () => void
  /** Shows another value until the next answer, after a change. */
  replace: (data: T) => void
}

type Answer<T> = { key: string; data: T }

/** `key` identifies the question; null loads nothing. */
export function useResource<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [answer, setAnswer] = useState<Answer<T>>()
  const [failure, setFailure] = useState<Answer<Error>>()
  const [turn, setTurn] = useState(0)
  const [ended, setEnded] = useState<string>()
  const question = `${turn} ${key}`
  useEffect(() => {
    if (key === null) return
    const ending = new AbortController()
    load(ending.signal).then(
      (data) => {
        if (ending.signal.aborted) return
        setAnswer({ key, data })
        setFailure(undefined)
        setEnded(question)
      },
      (error: unknown) => {
        if (ending.signal.aborted) return
        setFailure({ key, data: error instanceof Error ? error : new Error(String(error)) })
        setEnded(question)
      }
    )
    return () => {
      ending.abort()
    }
    // `load` is a new function on every render; only `key` decides whether to load again.
  }, [key, turn])
  const reload = useCallback(() => {
    setTurn((turn) => turn + 1)
  }, [])
  const replace = useCallback(
    (data: T) => {
      if (key !== null) setAnswer({ key, data })
    },
    [key]
  )
  return {
    data: answer && answer.key === key ? answer.data : undefined,
    last: answer?.data,
    error: failure && failure.key === key ? failure.data : undefined,
    isLoading: key !== null && ended !== question,
    reload,
    replace
  }
}
