/** Waits until a person stops typing. */
import { useEffect } from 'preact/hooks'

const typingMs = 200

/** Calls `act` when the text has not changed for a moment. */
export function useAfterTyping(text: string, act: () => void): void {
  useEffect(() => {
    const timer = setTimeout(act, typingMs)
    return () => {
      clearTimeout(timer)
    }
  }, [text])
}
