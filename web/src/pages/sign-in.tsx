/**
 * The sign-in page: an identity provider, the one-time code in the link of `npm start`, or an access token.
 * If a person is signed in already, the page says so first.
 */
import { Mark } from '../parts/icons.tsx'
import { Problem } from '../parts/states.tsx'
import { Button } from '../parts/fields.tsx'
import { useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { safeNext } from '../address.ts'
import { nameOfActor } from '../api/entity.ts'
import { hasIdentityProvider, session, signIn, signOut } from '../api/session.ts'
import { useAction } from '../parts/use-action.ts'
import { goTo } from '../parts/use-address.ts'
import { texts } from '../texts.ts'

const words = texts.signIn

export function SignInPage() {
  const { query, route } = useLocation()
  const problems: { readonly [problem: string]: string } = words.problems
  const [message, setMessage] = useState(problems[query.problem ?? ''] ?? '')
  const [isBusy, setBusy] = useState(false)
  const next = safeNext(query.next)
  const goOn = (): void => {
    goTo(route, next, true)
  }
  const enter = (by: { token: string } | { code: string }): void => {
    setBusy(true)
    signIn(by).then(goOn, (error: Error) => {
      setBusy(false)
      setMessage('code' in by ? words.codeFailed : error.message)
    })
  }
  useEffect(() => {
    const code = new URLSearchParams(location.hash.slice(1)).get('code')
    if (!code) return
    // The code has been used, and should not stay in the history.
    history.replaceState(null, '', location.pathname + location.search)
    enter({ code })
  }, [])
  return (
    <main class="sign-in panel stack">
      <p class="row wordmark">
        <Mark /> {texts.product}
      </p>
      <h1>{session.value && !isBusy ? words.signedIn : words.title}</h1>
      {message && (
        <p class="chip bad" role="alert">
          {message}
        </p>
      )}
      {session.value && !isBusy ? (
        <SignedIn actor={session.value.actor} goOn={goOn} />
      ) : (
        <>
          <WithProvider next={next} />
          <WithToken isBusy={isBusy} enter={enter} />
        </>
      )}
    </main>
  )
}

function SignedIn({ actor, goOn }: { actor: string; goOn: () => void }) {
  const action = useAction()
  return (
    <>
      <p>{words.already(nameOfActor(actor))}</p>
      <Problem of={action.error} />
      <div class="row">
        <button class="primary" type="button" autofocus onClick={goOn}>
          {words.goOn}
        </button>
        <Button disabled={action.isBusy} run={() => action.run(() => signOut({ everywhere: false }))}>
          {texts.shell.signOut}
        </Button>
      </div>
    </>
  )
}

function WithProvider({ next }: { next: string }) {
  const [hasProvider, setProvider] = useState(false)
  useEffect(() => {
    void hasIdentityProvider().then(setProvider)
  }, [])
  if (!hasProvider) return null
  return (
    <>
      {/** Not a link, because the router would treat the link as one of its own pages. */}
      <Button class="primary" run={() => location.assign(`../sign-in?next=${encodeURIComponent(next)}`)}>
        {words.withProvider}
      </Button>
      <p class="soft">{words.orToken}</p>
    </>
  )
}

function WithToken({ isBusy, enter }: { isBusy: boolean; enter: (by: { token: string }) => void }) {
  const [isVisible, setVisible] = useState(false)
  const [token, setToken] = useState('')
  const field = {
    required: true,
    value: token,
    onInput: (event: { currentTarget: HTMLInputElement }) => {
      setToken(event.currentTarget.value)
    }
  }
  return (
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
        <Button aria-pressed={isVisible} run={() => setVisible(!isVisible)}>
          {isVisible ? words.hide : words.show}
        </Button>
      </div>
      <p class="soft">{words.hint}</p>
    </form>
  )
}
