/** What a page shows while it loads, after a failure, and when it is empty. */
import { Button } from './fields.tsx'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/errors.ts'
import { texts } from '../texts.ts'

/** Answers take milliseconds, so an earlier sign of loading would only flicker. */
const shownAfterMs = 150

/** Whether a page has been loading long enough to show that. */
function useIsLate(): boolean {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      setLate(true)
    }, shownAfterMs)
    return () => {
      clearTimeout(timer)
    }
  }, [])
  return isLate
}

/** Bars where the rows will be, after a moment; screen readers hear the word. */
export function Loading() {
  const isShown = useIsLate()
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">{isShown ? texts.state.loading : ''}</span>
      {isShown && [62, 84, 71, 48].map((width) => <span key={width} style={{ width: `${width}%` }} />)}
    </div>
  )
}

export const Failure = ({ error, retry }: { error: Error; retry?: () => void }) => (
  <div class="panel stack" role="alert">
    <h2>{texts.state.failed}</h2>
    <p>{error.message}</p>
    {error instanceof ApiError && (
      <p class="soft">
        <code>{error.code}</code>
      </p>
    )}
    {retry && (
      <div>
        <Button run={retry}>{texts.state.retry}</Button>
      </div>
    )}
  </div>
)

/** Why an action beside it failed. */
export const Problem = ({ of }: { of: Error | undefined }) =>
  of && (
    <p class="problem" role="alert">
      {of.message}
    </p>
  )

/** `isPage`: this is the whole page, so its title is the title of the page. */
export const Empty = ({
  title,
  isPage = false,
  children
}: {
  title: string
  isPage?: boolean
  children?: ComponentChildren
}) => (
  <div class="panel stack">
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
)
