/** The docs as `npm run site` builds them, below a path of a server of files, read in headless Chromium. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { isTooWide, skipWithoutChromium, violationsOf, withBrowser, type Theme } from '../support/browser.ts'
import { listenUntilTeardown } from '../support/listen.ts'
import { withFolder } from '../support/program.ts'
import { skipUnless } from '../support/skip.ts'

t.setTimeout(300_000)

const base = '/catalog/docs/'
const desk = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }

/** Names of the pages in docs, as the site names them. */
const pages = readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'))
  .sort()

const types: { [ending: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json'
}

/** Builds into a folder of its own, below `base`. */
function build(folder: string): { code: number | null; says: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/vitepress/bin/vitepress.js', 'build', '.', '--base', base, '--outDir', folder],
    { cwd: packagePath('site'), encoding: 'utf8' }
  )
  return { code: status, says: `${stdout}${stderr}` }
}

/** Serves the folder below `base`, as a server of files does, and nothing beside it. Returns the address of the first page. */
async function serve(t: Test, folder: string): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://site')
    const path = join(folder, decodeURIComponent(pathname.slice(base.length)) || 'index.html')
    if (!pathname.startsWith(base) || extname(path) === '' || !existsSync(path)) {
      response.writeHead(404).end('not here')
      return
    }
    response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' })
    response.end(readFileSync(path))
  })
  server.on('connection', (socket) => sockets.add(socket))
  return `http://127.0.0.1:${await listenUntilTeardown(t, server, sockets)}${base}`
}

type Reader = { page: Page; goTo: (path: string) => Promise<void> }

/** A reader with a browser of their own. At its end the test fails if the site complained, or asked another server. */
async function open(
  t: Test,
  browser: Browser,
  url: string,
  { width, height, theme = 'light' }: { width: number; height: number; theme?: Theme }
): Promise<Reader> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce'
  })
  const complaints: string[] = []
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
      complaints.push(`a request to ${request.url()}`)
  })
  t.teardown(async () => {
    await context.close()
    if (complaints.length > 0) throw new Error(`the browser complains:\n${complaints.join('\n')}`)
  })
  return {
    page,
    goTo: async (path) => {
      await page.goto(`${url}${path}`)
    }
  }
}

/** Types words, and waits for their hits. The box first shows the words before, with their hits. */
async function ask(field: Locator, words: string): Promise<void> {
  const hits = field.page().locator('.VPLocalSearchBox .result')
  await field.fill('')
  await hits.first().waitFor({ state: 'detached' })
  await field.fill(words)
  await hits.first().waitFor()
}

/** Opens the search by what a reader does, again until the script of the page has started, and returns its field. */
async function openSearch(page: Page, open: () => Promise<void>): Promise<Locator> {
  const field = page.getByRole('searchbox')
  for (let attempt = 0; attempt < 20 && !(await field.isVisible()); attempt += 1) {
    await open()
    await field.waitFor({ timeout: 1_000 }).catch(() => {})
  }
  return field
}

t.test('the site of the docs', async (t) => {
  if (skipWithoutChromium(t)) return
  if (skipUnless(t, existsSync(packagePath('site/node_modules')), 'nothing is installed: npm run site'))
    return
  const folder = withFolder(t)
  const { code, says } = build(folder)
  t.equal(code, 0, says)
  const [url, browser] = [await serve(t, folder), await withBrowser(t)]

  t.test('has every page of docs, and the side bar leads to each', async (t) => {
    for (const page of pages) t.ok(existsSync(join(folder, page)), page)
    const html = readFileSync(join(folder, 'tutorial.html'), 'utf8')
    const inBar = new Set([...html.matchAll(/href="([^"#]+\.html|[^"#]*\/)"/g)].map(([, href = '']) => href))
    const unlisted = pages.filter(
      (page) =>
        !/^(?:index|decisions\/\d)/.test(page) && !inBar.has(`${base}${page.replace(/index\.html$/, '')}`)
    )
    t.strictSame(unlisted, [])
  })

  for (const theme of ['light', 'dark'] as const)
    for (const size of [desk, phone])
      t.test(`reads well in ${theme} colours, ${size.width} pixels wide`, async (t) => {
        const { page, goTo } = await open(t, browser, url, { ...size, theme })
        for (const path of [
          'index.html',
          'tutorial.html',
          'concepts.html',
          'guides/dbt.html',
          'comparison.html',
          'architecture.html',
          'errors.html'
        ]) {
          await goTo(path)
          t.notOk(await isTooWide(page), `${path} is not scrolled sideways`)
          t.strictSame(await violationsOf(page), [], path)
          const unseen: unknown = await page.evaluate(
            "[...document.images].filter((image) => image.loading !== 'lazy' && image.complete && image.naturalWidth === 0).map(({ src }) => src)"
          )
          t.strictSame(unseen, [], `${path} shows its pictures`)
        }
      })

  t.test('a phone shows no page wider than itself', async (t) => {
    const { page, goTo } = await open(t, browser, url, phone)
    const wide: string[] = []
    for (const path of pages.filter((name) => !/^decisions\/\d/.test(name))) {
      await goTo(path)
      if (await isTooWide(page)) wide.push(path)
    }
    t.strictSame(wide, [])
  })

  t.test('a phone reads each row of a wide table as a card, and scrolls no table sideways', async (t) => {
    const { page, goTo } = await open(t, browser, url, phone)
    for (const [path, label] of [
      ['configuration.html', 'Default'],
      ['comparison.html', 'DataHub'],
      ['glossary.html', 'Means'],
      ['datahub.html', 'Transport'],
      ['performance.html', 'Ratio']
    ] as const) {
      await goTo(path)
      const seen: unknown = await page.evaluate(`(() => {
        const tables = [...document.querySelectorAll('.vp-doc table.cards')]
        const cells = tables.flatMap((table) => [...table.querySelectorAll('td[data-label="${label}"]')])
        return {
          scrolled: tables.filter((table) => table.scrollWidth > table.clientWidth + 1).length,
          stacked: cells.every((cell) => cell.offsetLeft === cell.parentElement.firstElementChild.offsetLeft),
          named: cells.some((cell) => getComputedStyle(cell, '::before').content === '"${label}"'),
          heads: tables.every((table) => table.querySelectorAll('thead tr > *').length >= 3)
        }
      })()`)
      t.strictSame(seen, { scrolled: 0, stacked: true, named: true, heads: true }, path)
      t.strictSame(await violationsOf(page), [], path)
    }
    await page.setViewportSize(desk)
    const rows: unknown = await page.evaluate(
      "getComputedStyle(document.querySelector('.vp-doc table.cards tr')).display"
    )
    t.equal(rows, 'table-row', 'a desk reads it as a table')
  })

  t.test('no command runs out of its box', async (t) => {
    const { page, goTo } = await open(t, browser, url, desk)
    const wide: string[] = []
    for (const path of pages.filter((name) => /^(?:tutorial|index|guides|how-to)/.test(name))) {
      await goTo(path)
      const count: unknown = await page.evaluate(
        "[...document.querySelectorAll('.language-sh pre, .language-yaml pre')].filter((box) => box.scrollWidth > box.clientWidth + 1).length"
      )
      if (count !== 0) wide.push(`${path}: ${String(count)}`)
    }
    t.strictSame(wide, [])
  })

  t.test(
    'the first page has the commands, four ways in and four paths, and no list of all pages',
    async (t) => {
      const { page, goTo } = await open(t, browser, url, desk)
      await goTo('index.html')
      t.match(await page.locator('.vp-doc .language-sh').first().innerText(), /npm ci\s+npm start/)
      t.equal(await page.locator('.VPFeature').count(), 4)
      const paths = await page.locator('.paths h3').allInnerTexts()
      t.strictSame(
        paths.map((text) => text.replaceAll('\u200b', '').trim()),
        ['Try it', 'Load', 'Run it', 'Leave DataHub']
      )
      const links = await page.locator('.vp-doc a:not(.header-anchor)').count()
      t.ok(links > 8 && links < 25, `${links} links`)
      await page.locator('.VPFeature', { hasText: 'From DataHub' }).click()
      await page.getByRole('heading', { name: 'Move from DataHub', level: 1 }).waitFor()
    }
  )

  for (const size of [desk, phone])
    t.test(`search finds what people look for, ${size.width} pixels wide`, async (t) => {
      const { page, goTo } = await open(t, browser, url, size)
      /** What people type, and the page that must be among the first five. */
      const asked: [words: string, page: string][] = [
        ['placeholder', 'concepts.html'],
        ['undo', 'how-to/undo-a-load.html'],
        ['dbt manifest', 'guides/dbt.html'],
        ['LINEAGE_MEMORY_MB', 'configuration.html'],
        ['SNAPSHOT_REMOVES_TOO_MUCH', 'errors.html'],
        ['kubernets', 'how-to/deploy-on-kubernetes.html'],
        ['shared_buffers', 'how-to/tune-postgres.html'],
        ['marquez', 'guides/from-marquez.html']
      ]
      const clickSearch = (): Promise<void> => page.getByRole('button', { name: 'Search' }).first().click()
      await goTo('tutorial.html')
      for (const [words, wanted] of asked) {
        const field = await openSearch(page, clickSearch)
        await ask(field, words)
        const found: unknown = await page.evaluate(
          "[...document.querySelectorAll('.VPLocalSearchBox .result')].slice(0, 5).map(({ href }) => new URL(href).pathname)"
        )
        t.ok(Array.isArray(found) && found.includes(`${base}${wanted}`), `${words}: ${JSON.stringify(found)}`)
        if (words === 'undo') {
          // The theme's own list of hits has a link in each option, and says the > between titles that it draws.
          const others = (await violationsOf(page)).filter(
            (fault) => !/^(?:nested-interactive|label-content-name-mismatch): /.test(fault)
          )
          t.strictSame(others, [], 'the box of the search')
        }
        await page.keyboard.press('Escape')
        await field.waitFor({ state: 'detached' })
      }
      await ask(await openSearch(page, clickSearch), 'glossary')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: /Glossary/, level: 1 }).waitFor()
      t.match(page.url(), /glossary\.html/, 'Enter opens the first hit')
    })

  t.test('a word that is nowhere finds nothing, and says so', async (t) => {
    const { page, goTo } = await open(t, browser, url, desk)
    await goTo('tutorial.html')
    const field = await openSearch(page, () => page.keyboard.press('Control+k'))
    await field.fill('zzyzxqq')
    t.match(await page.locator('.VPLocalSearchBox .no-results').innerText(), /zzyzxqq/)
  })

  t.test('the theme is kept from page to page, and pictures follow it', async (t) => {
    const { page, goTo } = await open(t, browser, url, { ...desk, theme: 'light' })
    await goTo('web-ui.html')
    const seen = async (): Promise<unknown> =>
      page.evaluate(
        "[...document.querySelectorAll('.shot img')].filter((image) => image.offsetParent !== null).every(({ src }) => src.includes(document.documentElement.classList.contains('dark') ? '-dark' : '-light'))"
      )
    t.equal(await seen(), true)
    await page.waitForLoadState('networkidle')
    await page.getByRole('switch').first().click()
    t.equal(await page.evaluate("document.documentElement.classList.contains('dark')"), true)
    t.equal(await seen(), true)
    await goTo('concepts.html')
    t.equal(await page.evaluate("document.documentElement.classList.contains('dark')"), true)
  })

  t.test('a phone reaches every page by its menu', async (t) => {
    const { page, goTo } = await open(t, browser, url, phone)
    await goTo('tutorial.html')
    await page.waitForLoadState('networkidle')
    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    await page.locator('.VPSidebar').getByRole('link', { name: 'Runbook' }).click()
    await page.getByRole('heading', { name: /runbook/i, level: 1 }).waitFor()
    t.match(page.url(), /runbook\.html/)
  })
})

t.test('the check of the site names what leads nowhere', async (t) => {
  const { checkSite }: { checkSite: (folder: string, base: string) => void } = await import(
    pathToFileURL(packagePath('site/check-site.mjs')).href
  )
  const faults: [html: string, said: RegExp][] = [
    [`<a href="${base}gone.html">`, /gone\.html: is not there/],
    ['<a href="./other.html#gone">', /other\.html#gone: has no such heading/],
    ['<a href="#gone">', /#gone: has no such heading/],
    ['<img src="images/gone.png">', /images\/gone\.png: is not there/],
    ['<a href="/elsewhere/other.html">', /is outside/],
    ['<script src="https://cdn.example/x.js"></script>', /fetches https:\/\/cdn\.example\/x\.js/],
    ['<link href="//fonts.example/x.css">', /fetches \/\/fonts\.example\/x\.css/]
  ]
  for (const [html, said] of faults) {
    const folder = withFolder(t)
    writeFileSync(join(folder, 'other.html'), '<h2 id="here">Here</h2>')
    writeFileSync(join(folder, 'index.html'), html)
    t.throws(() => checkSite(folder, base), said, html)
  }
  const sound = withFolder(t)
  writeFileSync(join(sound, 'other.html'), '<h2 id="here">Here</h2>')
  writeFileSync(join(sound, 'index.html'), `<a href="${base}other.html#here"><a href="https://example.com/">`)
  t.doesNotThrow(() => checkSite(sound, base))
  t.throws(() => checkSite(withFolder(t), base), /no page was built/)
})
