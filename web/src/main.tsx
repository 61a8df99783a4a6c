/** Starts the UI: the theme, then the session, then the page of the address. */
import { render } from 'preact'
import { App } from './app.tsx'
import './style/theme.css'
import './style/base.css'
import './style/shell.css'
import './style/parts.css'
import { watchBack } from './parts/unsaved.ts'
import { startTheme } from './theme.ts'

startTheme()
watchBack()
const root = document.getElementById('app')
if (!root) throw new Error('The page has no element #app')
root.replaceChildren()
render(<App />, root)
