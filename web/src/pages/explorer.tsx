/** The GraphQL explorer: GraphiQL, with the requests of the signed-in person. Only this page loads React and an editor. */
import { GraphiQL } from 'graphiql'
import { createElement } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import 'graphiql/style.css'
import { send } from '../api/request.ts'
import '../style/explorer.css'
import { explorerTexts as words } from '../texts/explorer.ts'
import { theme } from '../theme.ts'

async function ask(body: unknown): Promise<object> {
  const response = await send('../api/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  return (await response.json()) as object
}

export function ExplorerPage() {
  const place = useRef<HTMLDivElement>(null)
  const [root, setRoot] = useState<Root | null>(null)
  useEffect(() => {
    if (!place.current) return
    const created = createRoot(place.current)
    setRoot(created)
    return () => {
      created.unmount()
    }
  }, [])
  useEffect(() => {
    /** The operation in the address: `?query=…&variables=…`. */
    const asked = new URLSearchParams(location.search)
    root?.render(
      createElement(
        GraphiQL,
        {
          fetcher: ask,
          defaultQuery: words.firstQuery,
          forcedTheme: theme.value,
          defaultEditorToolsVisibility: true,
          ...(asked.has('query') ? { initialQuery: asked.get('query') ?? '' } : {}),
          ...(asked.has('variables') ? { initialVariables: asked.get('variables') ?? '' } : {})
        },
        createElement(GraphiQL.Logo, null, words.logo)
      )
    )
  }, [root, theme.value])
  return (
    <>
      <h1 class="visually-hidden">{words.title}</h1>
      <div ref={place} class="explorer" />
    </>
  )
}
