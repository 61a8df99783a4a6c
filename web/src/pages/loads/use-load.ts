/**
 * Follows a load until it ends: by server-sent events while they are available, otherwise by polling every
 * two seconds.
 */
import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../api/errors.ts'
import { eventsAddress, readLoad, type Load } from '../../api/loads.ts'
import { hasEnded } from './verdicts.ts'

const retryMs = 2_000

export type Followed = {
  load: Load | undefined
  error: Error | undefined
  /** Whether the stream is open. */
  isLive: boolean
  /** Takes an answer of the API, after a retry or a cancel, and continues to follow the load. */
  update: (load: Load) => void
  retry: () => void
}

export function useLoad(id: string | null): Followed {
  const [load, setLoad] = useState<Load>()
  const [error, setError] = useState<Error>()
  const [isLive, setLive] = useState(false)
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    if (id === null) return
    let source: EventSource | null = null
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const end = (): void => {
      isOver = true
      source?.close()
      clearTimeout(timer)
    }
    const take = (next: Load): void => {
      if (isOver) return
      setLoad(next)
      setError(undefined)
      if (hasEnded(next)) {
        end()
        setLive(false)
      }
    }
    // While the stream is cut, refused or not open yet, the load is polled.
    const ask = (): void => {
      readLoad(id).then(take, (failure: Error) => {
        if (isOver) return
        setError(failure)
        // The load does not exist, so polling would not help.
        if (failure instanceof ApiError && failure.status === 404) end()
      })
    }
    const follow = (): void => {
      if (isOver) return
      source = new EventSource(eventsAddress(id))
      source.addEventListener('open', () => {
        setLive(true)
      })
      source.addEventListener('load', (event: MessageEvent<string>) => {
        take(JSON.parse(event.data) as Load)
      })
      source.addEventListener('error', () => {
        if (isOver) return
        setLive(false)
        source?.close()
        ask()
        clearTimeout(timer)
        timer = setTimeout(follow, retryMs)
      })
    }
    follow()
    return end
  }, [id, turn])
  const again = useCallback(() => {
    setTurn((last) => last + 1)
  }, [])
  return {
    load: load && load.id === id ? load : undefined,
    error,
    isLive,
    update: (next) => {
      setLoad(next)
      again()
    },
    retry: again
  }
}
