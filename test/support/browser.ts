/** Pages of the web UI in headless Chromium, signed in at a test server, with the errors they report. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { isOpenDoor } from './open-doors.ts'
import { skipUnless } from './skip.ts'

const chromiumPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** Returns false if Chromium is installed. Otherwise skips the test with the reason, or fails it in CI. */
export const skipWithoutChromium = (t: Test): boolean =>
  skipUnless(t, existsSync(chromiumPath), `no Chromium at ${chromiumPath}; set CHROMIUM_PATH`)

/** Closed at teardown. */
export async function withBrowser(t: Test): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    // Chromium does not run as root with its sandbox, and containers have little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage']
  })
  t.teardown(() => browser.close())
  return browser
}

export type Theme = 'light' | 'dark'

export type OpenOptions = {
  /** The address of the server: `http://127.0.0.1:41234`. */
  url: string
  /** Signs in with this token; null leaves the browser signed out. */
  token: string | null
  /** Below `/ui/`: `domains?urn=…`. */
  path?: string
  theme?: Theme
  width?: number
  height?: number
  reducedMotion?: boolean
}

export type OpenPage = {
  page: Page
  context: BrowserContext
  /**
   * Errors of the console and of scripts, violations of the page's policy, requests to other servers, and
   * requests that the API has for its own pages alone. A test that causes one on purpose removes it.
   */
  complaints: string[]
  /** Navigates to another address below `/ui/`. */
  goTo: (path: string) => Promise<void>
}

/**
 * Opens a page in a browser context of its own, without the cookies or storage of others. At its end, the
 * test fails if `complaints` is not empty.
 */
export async function openPage(
  t: Test,
  browser: Browser,
  { url, token, path = '', theme = 'light', width = 1280, height = 800, reducedMotion = false }: OpenOptions
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    permissions: ['clipboard-read', 'clipboard-write']
  })
  const complaints: string[] = []
  if (token !== null) {
    const answer = await context.request.post(`${url}/session`, { data: { token } })
    if (!answer.ok()) throw new Error(`not signed in: ${answer.status()} ${await answer.text()}`)
  }
  const page = await context.newPage()
  // Longer than any single wait of a test on two busy cores, and shorter than the limit of a test file.
  page.setDefaultTimeout(20_000)
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => {
    complaints.push(error.message)
  })
  page.on('request', (request) => {
    const target = request.url()
    if (/^(data|blob):/.test(target)) return
    if (!target.startsWith(`${url}/`)) complaints.push(`a request to ${target}`)
    else if (
      !isOpenDoor(request.method(), new URL(target).pathname.slice(new URL(`${url}/`).pathname.length - 1))
    )
      complaints.push(`a request that no other client may make: ${request.method()} ${target}`)
  })
  t.teardown(async () => {
    await context.close()
    // An assertion would come too late here, but an error fails the test.
    if (complaints.length > 0) throw new Error(`the browser complains:\n${complaints.join('\n')}`)
  })
  const goTo = async (to: string): Promise<void> => {
    await page.goto(`${url}/ui/${to}`)
  }
  await goTo(path)
  return { page, context, complaints, goTo }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The violations of WCAG 2.2 A and AA that axe-core finds on the page as it is, as `rule: target`. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  // A text, because the page does not have the functions of the test.
  const found: unknown = await page.evaluate(`
    axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => id + ': ' + target.join(' ') + ' ' + failureSummary)))`)
  return Array.isArray(found) ? found.map(String) : []
}

/** Whether the page would have to be scrolled sideways. */
export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > window.innerWidth')

/** Opens one of the menus of the bar and returns its list. */
export async function openBarMenu(page: Page, name: 'Copy' | 'Account'): Promise<Locator> {
  // Not by its role, which a list that is closed does not have.
  const label = name === 'Copy' ? 'Copy this page' : name
  // What can be copied is a part of the menu of the account.
  const menu = page.locator('.bar details').filter({ has: page.locator(`[aria-label="${label}"]`) })
  if ((await menu.getAttribute('open')) === null) await menu.locator('summary').click()
  return menu.getByRole('group', { name: label, exact: true })
}

/** Opens a menu of the page by what its button says. */
export async function openMenu(page: Page, name: string): Promise<void> {
  await page.getByRole('main').locator('summary', { hasText: name }).click()
}

/** Chooses an action from a menu of the page. */
export async function chooseIn(page: Page, menu: string, action: string): Promise<void> {
  await openMenu(page, menu)
  await page.getByRole('main').getByRole('button', { name: action }).click()
}

/** Presses the keys one after the other: `Tab`, `Shift+Tab`, `ArrowDown`, `a`. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

const pollMs = 50
const patienceMs = 20_000

/** Waits until an expression is true in the page. Playwright's own wait needs eval, which the policy of the pages forbids. */
export async function until(page: Page, expression: string): Promise<void> {
  const endsAt = Date.now() + patienceMs
  while (Date.now() < endsAt) {
    if ((await page.evaluate(expression)) === true) return
    await page.waitForTimeout(pollMs)
  }
  throw new Error(`not true within ${patienceMs} ms: ${expression}`)
}
