/**
 * Chooses the page of the address, inside the frame; the sign-in page if nobody is signed in. Each page is a
 * file of its own, loaded on first use.
 */
import type { ComponentType } from 'preact'
import { ErrorBoundary, LocationProvider, useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { addressOf, pageOf, type PageName } from './address.ts'
import { hasEnded, isAnothers, restoreSession, session } from './api/session.ts'
import { SignInPage } from './pages/sign-in.tsx'
import { Failure, Loading } from './parts/states.tsx'
import { lazyPage } from './parts/lazy-page.ts'
import { goTo } from './parts/use-address.ts'
import { Shell } from './shell.tsx'
import { texts } from './texts.ts'

const pages: { readonly [page in PageName]?: ComponentType } = {
  '': lazyPage(() => import('./pages/home.tsx').then(({ HomePage }) => HomePage)),
  asset: lazyPage(() => import('./pages/asset.tsx').then(({ AssetPage }) => AssetPage)),
  'edit-lineage': lazyPage(() =>
    import('./pages/edit-lineage.tsx').then(({ EditLineagePage }) => EditLineagePage)
  ),
  lineage: lazyPage(() => import('./graph/page.tsx').then(({ LineagePage }) => LineagePage)),
  search: lazyPage(() => import('./pages/search.tsx').then(({ SearchPage }) => SearchPage)),
  domains: lazyPage(() => import('./pages/domains.tsx').then(({ DomainsPage }) => DomainsPage)),
  map: lazyPage(() => import('./pages/map.tsx').then(({ MapPage }) => MapPage)),
  loads: lazyPage(() => import('./pages/loads.tsx').then(({ LoadsPage }) => LoadsPage)),
  sql: lazyPage(() => import('./pages/sql.tsx').then(({ SqlPage }) => SqlPage)),
  tokens: lazyPage(() => import('./pages/tokens.tsx').then(({ TokensPage }) => TokensPage)),
  explorer: lazyPage(() => import('./pages/explorer.tsx').then(({ ExplorerPage }) => ExplorerPage)),
  reference: lazyPage(() => import('./pages/reference.tsx').then(({ ReferencePage }) => ReferencePage))
}

export const App = () => (
  <LocationProvider scope={/^\.\//}>
    <CurrentPage />
  </LocationProvider>
)

function CurrentPage() {
  const { path, url, route } = useLocation()
  const [failure, setFailure] = useState<Error>()
  const page = pageOf(path)
  const [broken, setBroken] = useState<Error>()
  useEffect(() => {
    setBroken(undefined)
    document.title = page ? `${titleOf[page]} · ${texts.product}` : texts.product
  }, [page])
  const signedIn = session.value
  if (isAnothers.value) reloadPage()
  const restore = (): void => {
    setFailure(undefined)
    restoreSession().catch(setFailure)
  }
  useEffect(restore, [])
  useEffect(() => {
    if (signedIn === null && page !== 'sign-in' && page !== 'reference')
      goTo(
        route,
        addressOf('sign-in', {
          next: `./${page ?? ''}${new URL(url, location.href).search}`,
          ...(hasEnded.value ? { problem: 'ended' } : {})
        }),
        true
      )
  }, [signedIn, page, url])
  // If the server cannot say who is signed in, show the sign-in page.
  if (page === 'sign-in') return signedIn === undefined && !failure ? <Loading /> : <SignInPage />
  if (failure) return <Failure error={failure} retry={restore} />
  const Page = (page !== null && pages[page]) || NotFound
  // The description of the API is for everybody, as at /openapi.json.
  if (signedIn === null && page === 'reference')
    return (
      <main>
        <Page />
      </main>
    )
  if (!signedIn) return <Loading />
  return (
    <Shell page={page}>
      <ErrorBoundary onError={setBroken}>
        {broken ? <Failure error={broken} retry={reloadPage} /> : <Page />}
      </ErrorBoundary>
    </Shell>
  )
}

/**
 * Shown instead of another person's page, or if the file of a page could not be loaded, as after an upgrade.
 */
const reloadPage = (): void => {
  location.reload()
}

const titleOf: { readonly [page in Exclude<PageName, ''>]: string } = {
  search: texts.shell.search,
  asset: texts.shell.asset,
  lineage: texts.shell.lineage,
  domains: texts.shell.domains,
  map: texts.shell.map,
  'edit-lineage': texts.shell.editLineage,
  loads: texts.shell.loads,
  sql: texts.shell.sql,
  tokens: texts.shell.tokens,
  explorer: texts.shell.explorer,
  reference: texts.shell.reference,
  'sign-in': texts.signIn.title
}

/** The last part of the address, which may be a name. */
const lastPart = (): string => location.pathname.split('/').findLast(Boolean) ?? ''

const NotFound = () => (
  <div class="panel stack">
    <h1>{texts.shell.notFound}</h1>
    <p>
      <code class="urn">{location.pathname}</code>
    </p>
    <p>{texts.shell.notFoundHint}</p>
    <p class="row">
      <a class="button primary" href={addressOf('search', { q: lastPart() })}>
        {texts.search.all(lastPart())}
      </a>
      <a class="button" href="./">
        {texts.shell.toHome}
      </a>
    </p>
  </div>
)
