/** Loads what a page shows, again when its key changes. An answer is shown only under the key that it answers, and a late one never replaces a newer one. */
import { useCallback, useEffect, useState } from 'preact/hooks'

export type Resource<T> = {
  /** The answer to the present key; it stays while the same is asked again, and if that fails. */
  data: T | undefined
  /** The last answer, to whichever key: for a list that should stay in view until the next is there. */
  last: T | undefined
  /** Why the present key has no newer answer. */
  error: Error | undefined
  isLoading: boolean
  /** Asks once more. */
  reload: () => void
  /** Shows something else until the next answer, for a change that was just made. */
  replace: (data: T) => void
}

type Answer<T> = { key: string; data: T }

/** `key` says what is asked for; null asks for nothing. */
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
    // `load` is made anew by every drawing; the key says when it asks for something else.
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
