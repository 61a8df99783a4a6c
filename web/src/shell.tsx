/** The frame around every page: navigation, search, theme, session, messages. */
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useRef } from 'preact/hooks'
import { addressOf, type PageName } from './address.ts'
import { lastPartOf, nameOfActor } from './api/entity.ts'
import { canWrite, session, signOut } from './api/session.ts'
import { PageIcon } from './parts/icons.tsx'
import { KeyboardHelp } from './parts/keyboard-help.tsx'
import { SearchField } from './parts/search-field.tsx'
import { goTo } from './parts/use-address.ts'
import { tell, Toasts } from './parts/toasts.tsx'
import { texts } from './texts.ts'
import { chooseTheme, theme } from './theme.ts'

const places: readonly (readonly ['' | 'domains' | 'loads' | 'tokens', string])[] = [
  ['', texts.shell.home],
  ['domains', texts.shell.domains],
  ['loads', texts.shell.loads],
  ['tokens', texts.shell.tokens]
]

export function Shell({ page, children }: { page: PageName | null; children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    // Moves the focus to the top of a new page, except for the first page, where the browser places it.
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
    scrollTo(0, 0)
  }, [page])
  return (
    <div class="shell">
      <a class="skip button" href="#content">
        {texts.shell.skip}
      </a>
      <nav class="rail" aria-label={texts.shell.places}>
        <a class="wordmark" href="./">
          <Mark /> {texts.product}
        </a>
        {places.map(([name, label]) => (
          <a
            key={name}
            class="place"
            href={addressOf(name)}
            aria-current={name === page ? 'page' : undefined}
          >
            <PageIcon page={name} /> {label}
          </a>
        ))}
        <a class="place" href="./explorer">
          <PageIcon page="explorer" /> {texts.shell.explorer}
        </a>
        <a class="place" href="./reference">
          <PageIcon page="reference" /> {texts.shell.reference}
        </a>
        <Foot />
      </nav>
      <div>
        {/** The start page has a large search field. */}
        {page !== '' && (
          <header class="bar">
            <SearchField />
          </header>
        )}
        <main id="content" ref={main} tabIndex={-1} class={page === 'lineage' ? 'wide' : ''}>
          {children}
        </main>
      </div>
      <Toasts />
    </div>
  )
}

const Mark = () => (
  <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
    <path
      d="M4 8c9 0 9 8 14 8h10M4 24c9 0 9-8 14-8"
      fill="none"
      stroke="var(--accent)"
      stroke-width="4"
      stroke-linecap="round"
    />
  </svg>
)

function Foot() {
  const { route } = useLocation()
  const leave = (everywhere: boolean): void => {
    signOut({ everywhere }).then(
      () => {
        goTo(route, addressOf('sign-in'))
      },
      (error: Error) => {
        tell(error.message)
      }
    )
  }
  const owned = canWrite() ? session.value?.domainUrns : null
  const other = theme.value === 'dark' ? 'light' : 'dark'
  return (
    <div class="foot">
      <span class="soft">{texts.shell.signedInAs(nameOfActor(session.value?.actor ?? ''))}</span>
      {owned && (
        <span class="soft" title={owned.join('\n')}>
          {texts.shell.mayChange(owned.map(lastPartOf))}
        </span>
      )}
      <KeyboardHelp />
      <button
        type="button"
        class="plain"
        onClick={() => {
          chooseTheme(other)
        }}
      >
        {texts.shell[other]}
      </button>
      <button
        type="button"
        class="plain"
        onClick={() => {
          leave(false)
        }}
      >
        {texts.shell.signOut}
      </button>
      <button
        type="button"
        class="plain"
        onClick={() => {
          leave(true)
        }}
      >
        {texts.shell.signOutEverywhere}
      </button>
    </div>
  )
}
