/**
 * Loads a list page by page in the background, completely or up to the maximum of the table. A new question
 * starts again.
 */
import { useCallback, useEffect, useState } from 'preact/hooks'

export type Page<Row> = { rows: readonly Row[]; next: string | null; total: number; isPartial: boolean }

export type Pages<Row> = {
  rows: readonly Row[]
  /** Total number of rows; undefined until the first page has been loaded. */
  total: number | undefined
  /** True if the server reports that a limit cut its answer. */
  isPartial: boolean
  isLoading: boolean
  /** Rows loaded before the error stay. */
  error: Error | undefined
  /** Continues after the failed page, or starts again. */
  retry: () => void
}

type State<Row> = Omit<Pages<Row>, 'retry'> & { key: string; next: string | null }

const begin = <Row>(key: string): State<Row> => ({
  key,
  next: null,
  rows: [],
  total: undefined,
  isPartial: false,
  isLoading: true,
  error: undefined
})

/**
 * `key` identifies the question. At most `maxCount` rows are loaded. The old rows stay until the first page
 * of a new question.
 */
export function usePages<Row>(
  key: string,
  load: (next: string | null, signal: AbortSignal) => Promise<Page<Row>>,
  maxCount: number
): Pages<Row> {
  const [state, setState] = useState<State<Row>>(() => begin(key))
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const ending = new AbortController()
    const isSame = state.key === key && turn > 0
    let current: State<Row> = isSame ? { ...state, isLoading: true, error: undefined } : begin(key)
    const run = async (): Promise<void> => {
      for (;;) {
        const page = await load(current.next, ending.signal)
        if (ending.signal.aborted) return
        const rows = [...current.rows, ...page.rows]
        const next = rows.length < maxCount ? page.next : null
        current = {
          key,
          rows,
          next,
          total: page.total,
          isPartial: page.isPartial,
          isLoading: next !== null,
          error: undefined
        }
        setState(current)
        if (next === null) return
      }
    }
    setState((last) => ({ ...last, isLoading: true, error: undefined }))
    run().catch((error: unknown) => {
      if (ending.signal.aborted) return
      const failure = error instanceof Error ? error : new Error(String(error))
      // Rows of another question must not appear under this one.
      const kept = current.rows.length > 0 || current.total !== undefined ? current : begin<Row>(key)
      setState({ ...kept, isLoading: false, error: failure })
    })
    return () => {
      ending.abort()
    }
    // `load` is a new function on every render; only `key` decides whether to load again.
  }, [key, turn])
  const retry = useCallback(() => {
    setTurn((turn) => turn + 1)
  }, [])
  const { rows, total, isPartial, isLoading, error } = state
  return { rows, total, isPartial, isLoading, error, retry }
}
