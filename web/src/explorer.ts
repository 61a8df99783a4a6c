/**
 * The GraphQL explorer: GraphiQL, bundled, with the requests of the signed-in person. It is a separate
 * document, because it brings React and an editor.
 */
import { GraphiQL } from 'graphiql'
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { addressOf } from './address.ts'
import { send } from './api/request.ts'
import { restoreSession, session } from './api/session.ts'
import { explorerTexts } from './texts/explorer.ts'
import { startTheme, theme } from './theme.ts'
import 'graphiql/style.css'
import './style/theme.css'
import './style/explorer.css'

/** The operation in the address: `?query=…&variables=…`. */
const asked = new URLSearchParams(location.search)

async function ask(body: unknown): Promise<object> {
  const response = await send('../api/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  // The session has ended: sign in, and come back.
  if (response.status === 401) location.assign(signInAddress())
  return (await response.json()) as object
}

const signInAddress = (): string => addressOf('sign-in', { next: `./explorer${location.search}` })

async function start(): Promise<void> {
  startTheme()
  await restoreSession()
  if (!session.value) {
    location.assign(signInAddress())
    return
  }
  const root = document.getElementById('app')
  if (!root) throw new Error('The page has no element #app')
  createRoot(root).render(
    createElement(
      GraphiQL,
      {
        fetcher: ask,
        defaultQuery: explorerTexts.firstQuery,
        forcedTheme: theme.value,
        defaultEditorToolsVisibility: true,
        ...(asked.has('query') ? { initialQuery: asked.get('query') ?? '' } : {}),
        ...(asked.has('variables') ? { initialVariables: asked.get('variables') ?? '' } : {})
      },
      createElement(
        GraphiQL.Logo,
        null,
        createElement('a', { href: './', className: 'back' }, explorerTexts.back)
      )
    )
  )
}

start().catch((error: Error) => {
  const root = document.getElementById('app')
  if (root) root.textContent = explorerTexts.failed(error.message)
})
