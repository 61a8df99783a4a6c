/** The frame around every page: navigation, search, theme, session, messages. */
import { Button } from './parts/fields.tsx'
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useRef } from 'preact/hooks'
import { addressOf, type PageName } from './address.ts'
import { lastPartOf, nameOfActor } from './api/entity.ts'
import { canWrite, session, signOut } from './api/session.ts'
import { Mark, PageIcon } from './parts/icons.tsx'
import { KeyboardHelp, openKeyboardHelp } from './parts/keyboard-help.tsx'
import { Avatar } from './parts/avatar.tsx'
import { CopyActions } from './parts/copy-as.tsx'
import { Menu } from './parts/menu.tsx'
import { SearchField } from './parts/search-field.tsx'
import { goTo } from './parts/use-address.ts'
import { tellError, Toasts } from './parts/toasts.tsx'
import { keyboardTexts } from './texts/keyboard.ts'
import { texts } from './texts.ts'
import { chooseTheme, theme } from './theme.ts'

const places = [
  ['', texts.shell.home],
  ['domains', texts.shell.domains],
  ['map', texts.shell.map],
  ['loads', texts.shell.loads],
  ['tokens', texts.shell.tokens],
  ['sql', texts.shell.sql],
  ['explorer', texts.shell.explorer],
  ['reference', texts.shell.reference]
] as const

/** The places in the bar of a phone; the others are in the menu there. */
const phonePlaces = 5

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
        {places.map(([name, label], index) => (
          <a
            key={name}
            class={index < phonePlaces ? 'place' : 'place rare'}
            href={addressOf(name)}
            aria-current={name === page ? 'page' : undefined}
          >
            <PageIcon page={name} /> {label}
          </a>
        ))}
      </nav>
      <div>
        <header class="bar">
          {/** The start page has a large search field. */}
          {page !== '' && <SearchField />}
          <div class="bar-menus">
            <Account />
          </div>
        </header>
        <main
          id="content"
          ref={main}
          tabIndex={-1}
          class={page === 'lineage' || page === 'explorer' ? 'wide' : ''}
        >
          {children}
        </main>
      </div>
      <KeyboardHelp />
      <Toasts />
    </div>
  )
}

/** Who is signed in, and what is theirs: theme, shortcuts, signing out. */
function Account() {
  const { route } = useLocation()
  const leave = (everywhere: boolean): void => {
    signOut({ everywhere }).then(() => {
      goTo(route, addressOf('sign-in'))
    }, tellError)
  }
  const owned = canWrite() ? session.value?.domainUrns : null
  const other = theme.value === 'dark' ? 'light' : 'dark'
  const name = nameOfActor(session.value?.actor ?? '')
  return (
    <Menu
      label={texts.shell.account}
      title={
        <>
          <Avatar card={{ urn: session.value?.actor ?? '', name }} />
          <span class="account-name">{name}</span>
        </>
      }
    >
      {(close) => (
        <div class="menu-list">
          <p class="soft">{texts.shell.signedInAs(name)}</p>
          {owned && (
            <p class="soft" title={owned.join('\n')}>
              {texts.shell.mayChange(owned.map(lastPartOf))}
            </p>
          )}
          <CopyActions close={close} />
          {places.slice(phonePlaces).map(([name, label]) => (
            <a key={name} class="button place-rare" href={addressOf(name)} onClick={close}>
              {label}
            </a>
          ))}
          <Button run={() => chooseTheme(other)}>{texts.shell[other]}</Button>
          <Button
            run={() => {
              close()
              openKeyboardHelp()
            }}
          >
            {keyboardTexts.open}
          </Button>
          <Button run={() => leave(false)}>{texts.shell.signOut}</Button>
          <Button run={() => leave(true)}>{texts.shell.signOutEverywhere}</Button>
        </div>
      )}
    </Menu>
  )
}
