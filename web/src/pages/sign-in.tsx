/** Sign-in with an identity provider, by the one-time code in the link that `npm start` prints, or by an access token. */
import { useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { pageOf, safeNext } from '../address.ts'
import { hasIdentityProvider, signIn } from '../api/session.ts'
import { goTo } from '../parts/use-address.ts'
import { texts } from '../texts.ts'

export function SignInPage() {
  const { query, route } = useLocation()
  const words = texts.signIn
  const problems: { readonly [problem: string]: string } = words.problems
  const [message, setMessage] = useState(problems[query.problem ?? ''] ?? '')
  const [hasProvider, setProvider] = useState(false)
  const [isVisible, setVisible] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [token, setToken] = useState('')
  const field = {
    required: true,
    value: token,
    onInput: (event: { currentTarget: HTMLInputElement }) => {
      setToken(event.currentTarget.value)
    }
  }
  const enter = (by: { token: string } | { code: string }): void => {
    setBusy(true)
    signIn(by).then(
      () => {
        const next = safeNext(query.next)
        // The explorer is a document of its own.
        if (pageOf(new URL(next, location.href).pathname) === null) location.assign(next)
        else goTo(route, next, true)
      },
      (error: Error) => {
        setBusy(false)
        setMessage('code' in by ? words.codeFailed : error.message)
      }
    )
  }
  useEffect(() => {
    void hasIdentityProvider().then(setProvider)
  }, [])
  useEffect(() => {
    const code = new URLSearchParams(location.hash.slice(1)).get('code')
    if (!code) return
    // The code has been used, and should not stay in the history.
    history.replaceState(null, '', location.pathname + location.search)
    enter({ code })
  }, [])
  return (
    <main class="sign-in panel stack">
      <h1>
        {texts.product}: {words.title}
      </h1>
      {message && (
        <p class="chip bad" role="alert">
          {message}
        </p>
      )}
      {hasProvider && (
        <>
          {/* No link: the router would take it for a page of its own. */}
          <button
            class="primary"
            type="button"
            onClick={() => {
              location.assign(`../sign-in?next=${encodeURIComponent(safeNext(query.next))}`)
            }}
          >
            {words.withProvider}
          </button>
          <p class="soft">{words.orToken}</p>
        </>
      )}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          enter({ token: token.trim() })
        }}
      >
        <label class="field">
          {words.token}
          {isVisible ? (
            <input {...field} type="text" spellcheck={false} />
          ) : (
            <input {...field} type="password" autocomplete="current-password" autofocus />
          )}
        </label>
        <div class="row">
          <button class="primary" type="submit" disabled={isBusy}>
            {isBusy ? words.withCode : words.submit}
          </button>
          <button
            type="button"
            aria-pressed={isVisible}
            onClick={() => {
              setVisible(!isVisible)
            }}
          >
            {isVisible ? words.hide : words.show}
          </button>
        </div>
        <p class="soft">{words.hint}</p>
      </form>
    </main>
  )
}
