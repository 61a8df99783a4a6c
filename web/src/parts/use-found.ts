/** Finds entities while a person types. A late answer never replaces a newer one. */
import { useEffect, useState } from 'preact/hooks'
import type { Card } from '../api/entity.ts'

const debounceMs = 120

/** The results for `text`, which may be older than the text in the field. */
export type Found = { text: string | null; options: readonly Card[] }

const nothing: readonly Card[] = []

/** Null finds nothing. If the search fails, the field works without options. */
export function useFound(
  text: string | null,
  find: (text: string, signal: AbortSignal) => Promise<readonly Card[]>
): Found {
  const [found, setFound] = useState<Found>({ text: null, options: nothing })
  useEffect(() => {
    if (text === null) {
      setFound({ text, options: nothing })
      return
    }
    const ending = new AbortController()
    const timer = setTimeout(() => {
      find(text, ending.signal).then(
        (options) => {
          if (!ending.signal.aborted) setFound({ text, options })
        },
        () => {
          if (!ending.signal.aborted) setFound({ text, options: nothing })
        }
      )
    }, debounceMs)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
    // `find` is a new function on every render.
  }, [text])
  return found
}
