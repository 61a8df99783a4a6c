/** Asks before a page is left whose changes are not saved: by a link, a search, the browser's back, or for good. */
import { useEffect } from 'preact/hooks'

/** The question of the page that has changes, and the page's address; null if none has. */
let question: string | null = null
let here = ''

/** Whether the page may be left: true if nothing is unsaved, or the person agrees to lose it. */
export function mayLeave(): boolean {
  if (question === null) return true
  // The browser's own question stops everything else, which a dialog of the page could not.
  if (!confirm(question)) return false
  question = null
  return true
}

/** While `asks` is true, leaving the page asks `text`. */
export function useUnsaved(asks: boolean, text: string): void {
  useEffect(() => {
    if (!asks) return
    question = text
    here = location.href
    const beforeUnload = (event: Event): void => {
      if (question !== null) event.preventDefault()
    }
    const onClick = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a[href]') : null
      const opensElsewhere =
        event.ctrlKey || event.metaKey || event.shiftKey || link?.hasAttribute('download')
      if (!link || opensElsewhere || mayLeave()) return
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    addEventListener('beforeunload', beforeUnload)
    addEventListener('click', onClick, true)
    return () => {
      question = null
      removeEventListener('beforeunload', beforeUnload)
      removeEventListener('click', onClick, true)
    }
  }, [asks, text])
}

/** Must be called before the router listens, because the events of a window come to its listeners in their order. */
export function watchBack(): void {
  addEventListener('popstate', (event) => {
    if (mayLeave()) return
    event.stopImmediatePropagation()
    history.pushState(null, '', here)
  })
}
