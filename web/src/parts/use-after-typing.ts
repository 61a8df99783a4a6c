/** Waits until a person stops typing. */
import { useEffect, useRef } from 'preact/hooks'

const typingMs = 200

/** Calls `act` when the text has not changed for a moment. */
export function useAfterTyping(text: string, act: () => void): void {
  const latest = useRef(act)
  // The address may have changed since the last letter: an older `act` would undo that.
  latest.current = act
  useEffect(() => {
    const timer = setTimeout(() => {
      latest.current()
    }, typingMs)
    return () => {
      clearTimeout(timer)
    }
  }, [text])
}
