/** Which page the address asks for, inside the frame; the sign-in page where nobody is signed in. Each page is a file of its own, loaded when it is first asked for. */
import type { ComponentType } from 'preact'
import { lazy, ErrorBoundary, LocationProvider, useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { addressOf, pageOf, type PageName } from './address.ts'
import { restoreSession, session } from './api/session.ts'
import { SignInPage } from './pages/sign-in.tsx'
import { Failure, Loading } from './parts/states.tsx'
import { goTo } from './parts/use-address.ts'
import { Shell } from './shell.tsx'
import { texts } from './texts.ts'

const pages: { readonly [page in PageName]?: ComponentType } = {
  '': lazy(() => import('./pages/home.tsx').then(({ HomePage }) => HomePage)),
  asset: lazy(() => import('./pages/asset.tsx').then(({ AssetPage }) => AssetPage)),
  'edit-lineage': lazy(() =>
    import('./pages/edit-lineage.tsx').then(({ EditLineagePage }) => EditLineagePage)
  ),
  lineage: lazy(() => import('./graph/page.tsx').then(({ LineagePage }) => LineagePage)),
  search: lazy(() => import('./pages/search.tsx').then(({ SearchPage }) => SearchPage)),
  domains: lazy(() => import('./pages/domains.tsx').then(({ DomainsPage }) => DomainsPage)),
  loads: lazy(() => import('./pages/loads.tsx').then(({ LoadsPage }) => LoadsPage)),
  tokens: lazy(() => import('./pages/tokens.tsx').then(({ TokensPage }) => TokensPage))
}

export const App = () => (
  // Links to other documents, such as the API explorer, are the browser's to follow.
  <LocationProvider scope={/^\.\/(?!explorer|reference)/}>
    <CurrentPage />
  </LocationProvider>
)

function CurrentPage() {
  const { path, url, route } = useLocation()
  const [failure, setFailure] = useState<Error>()
  const page = pageOf(path)
  const signedIn = session.value
  const restore = (): void => {
    setFailure(undefined)
    restoreSession().catch(setFailure)
  }
  useEffect(restore, [])
  useEffect(() => {
    if (signedIn === null && page !== 'sign-in')
      goTo(
        route,
        addressOf('sign-in', { next: `./${page ?? ''}${new URL(url, location.href).search}` }),
        true
      )
  }, [signedIn, page, url])
  if (page === 'sign-in') return <SignInPage />
  if (failure) return <Failure error={failure} retry={restore} />
  if (!signedIn) return <Loading />
  const Page = (page !== null && pages[page]) || NotFound
  return (
    <Shell page={page}>
      <ErrorBoundary>
        <Page />
      </ErrorBoundary>
    </Shell>
  )
}

const NotFound = () => (
  <div class="panel stack">
    <h1>{texts.shell.notFound}</h1>
    <a href="./">{texts.shell.toHome}</a>
  </div>
)
