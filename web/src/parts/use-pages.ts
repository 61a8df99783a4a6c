/** Loads a list page by page in the background until it is whole, or as long as the table can hold; a change of the question begins anew. */
import { useCallback, useEffect, useState } from 'preact/hooks'

export type Page<Row> = { rows: readonly Row[]; next: string | null; total: number; isPartial: boolean }

export type Pages<Row> = {
  rows: readonly Row[]
  /** How many there are; undefined until the first page is there. */
  total: number | undefined
  /** True where the server says that a limit ended its answer. */
  isPartial: boolean
  isLoading: boolean
  /** Rows that were loaded before it stay. */
  error: Error | undefined
  /** Goes on where it failed, or begins anew. */
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

/** `key` says what is asked for. At most `maxCount` rows are loaded; what was shown stays until the first page of a new question. */
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
      // Rows of another question must not stand under this one.
      const kept = current.rows.length > 0 || current.total !== undefined ? current : begin<Row>(key)
      setState({ ...kept, isLoading: false, error: failure })
    })
    return () => {
      ending.abort()
    }
    // `load` is made anew by every drawing; the key says when it asks for something else.
  }, [key, turn])
  const retry = useCallback(() => {
    setTurn((turn) => turn + 1)
  }, [])
  const { rows, total, isPartial, isLoading, error } = state
  return { rows, total, isPartial, isLoading, error, retry }
}
