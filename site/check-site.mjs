/** Every link, anchor, picture and script of the built site leads to a file or heading of the site itself. */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

/** Throws with every reference that leads nowhere, or fetches something from another host. */
export function checkSite(folder, base) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const pages = new Map(
    files
      .filter((name) => name.endsWith('.html'))
      .map((name) => [name.replaceAll('\\', '/'), readFileSync(join(folder, name), 'utf8')])
  )
  const idsOf = new Map([...pages].map(([name, html]) => [name, new Set(valuesOf(html, 'id'))]))
  const faults = [...pages].flatMap(([name, html]) => [
    ...referencesOf(html).flatMap((reference) => {
      const fault = faultOf(reference, name)
      return fault === null ? [] : [`${name}: ${reference}: ${fault}`]
    }),
    ...fetchedElsewhere(html).map((url) => `${name}: fetches ${url}`)
  ])
  for (const name of files.filter((file) => file.endsWith('.css')))
    for (const [, url] of readFileSync(join(folder, name), 'utf8').matchAll(
      /(?:url\(|@import )["']?(https?:[^"')]+)/g
    ))
      faults.push(`${name}: fetches ${url}`)
  if (pages.size === 0) faults.push('no page was built')
  if (faults.length > 0) throw new Error(`The site has ${faults.length} faults:\n${faults.join('\n')}`)

  function faultOf(reference, page) {
    const { pathname, hash } = new URL(reference, `http://site${base}${page}`)
    if (!pathname.startsWith(base)) return `is outside ${base}`
    const path = decodeURIComponent(pathname.slice(base.length))
    const file = path === '' || path.endsWith('/') ? posix.join(path, 'index.html') : path
    if (!existsSync(join(folder, file)) || statSync(join(folder, file)).isDirectory()) return 'is not there'
    const anchor = decodeURIComponent(hash.slice(1))
    return anchor === '' || !idsOf.has(file) || idsOf.get(file).has(anchor) ? null : 'has no such heading'
  }
}

const valuesOf = (html, attribute) =>
  [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))].map(([, value]) =>
    value.replaceAll('&amp;', '&')
  )

/** Links to other hosts are the reader's choice. */
const referencesOf = (html) =>
  [...valuesOf(html, 'href'), ...valuesOf(html, 'src'), ...valuesOf(html, 'srcset')].filter(
    (reference) => !/^(?:[a-z]+:|\/\/)/i.test(reference)
  )

const fetchedElsewhere = (html) =>
  [
    ...html.matchAll(
      /<(?:script|link|img|source|iframe)\b[^>]*\s(?:src|href|srcset)="((?:https?:)?\/\/[^"]*)"/g
    )
  ].map(([, url]) => url)
