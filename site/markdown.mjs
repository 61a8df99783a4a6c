/** What Markdown becomes here, as repository hosts show it: anchors, links to a folder's README, diagrams. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderMermaidSVG } from 'beautiful-mermaid'

/** The anchor of a heading, as repository hosts make it: links are written for these. */
export const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** A README is the index of its folder. */
export function leadToIndexes(md) {
  md.core.ruler.push('readme-is-index', ({ tokens }) => {
    for (const token of tokens)
      for (const child of token.children ?? []) {
        const href = child.type === 'link_open' ? child.attrGet('href') : null
        if (href !== null && !/^[a-z]+:/.test(href))
          child.attrSet('href', href.replace(/(^|\/)README\.md(?=#|$)/, '$1index.md'))
      }
  })
}

/** Vue takes a style out of a template, and leaves what it is given as text. */
const asContent = (md, html) => `v-html="${md.utils.escapeHtml(JSON.stringify(html))}"`

/** The first page of the site has a text of its own: the index of docs/ is in the side bar of every other page. */
export function beginAtHome(md, home) {
  md.core.ruler.before('normalize', 'begin-at-home', (state) => {
    if (isFirstPage(state.env)) state.src = readFileSync(home, 'utf8')
  })
}

export const isFirstPage = ({ relativePath }) => /^(?:README|index)\.md$/.test(relativePath)

/** Each cell of a table of three and more columns names its column, for phones, where each row is a card. */
export function nameCells(md) {
  md.core.ruler.push('name-cells', ({ tokens }) => {
    let [table, heads, column] = [null, [], 0]
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'table_open') [table, heads] = [token, []]
      else if (token.type === 'th_open') heads.push(textOf(tokens[index + 1]))
      else if (token.type === 'tr_open') column = 0
      else if (token.type === 'td_open') {
        if (heads.length >= 3) {
          table.meta = { isOfCards: true }
          if (heads[column] !== '') token.attrSet('data-label', heads[column])
        }
        column += 1
      }
    }
  })
  const open = md.renderer.rules.table_open
  md.renderer.rules.table_open = (tokens, index, ...rest) => {
    const html = open(tokens, index, ...rest)
    return tokens[index].meta?.isOfCards ? html.replace('<table', '<table class="cards"') : html
  }
}

const textOf = ({ children }) =>
  (children ?? [])
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('')
    .trim()

/** The corner of a table heads nothing, and is an empty cell to who hears the page. */
export function emptyCorners(md) {
  md.core.ruler.push('empty-corners', ({ tokens }) => {
    for (const [index, token] of tokens.entries())
      if (token.type === 'th_open' && tokens[index + 1].content.trim() === '')
        token.tag = tokens[index + 2].tag = 'td'
  })
}

/** In a table, `SNAPSHOT_MAX_REMOVED_SHARE` and `searchExactMaxCount` may break between their parts. */
export function breakableCells(md) {
  const code = md.renderer.rules.code_inline
  md.renderer.rules.code_inline = (tokens, index, options, env, self) => {
    const html = code(tokens, index, options, env, self)
    return env.isInTable
      ? html.replace(/(?<=>)[^<]+/, (text) =>
          text.replaceAll(/_|(?<=[a-z]{3})(?=[A-Z])|[,/](?=\S)/g, '$&<wbr>')
        )
      : html
  }
  for (const [rule, isInTable] of [
    ['table_open', true],
    ['table_close', false]
  ]) {
    const render =
      md.renderer.rules[rule] ??
      ((tokens, index, options, env, self) => self.renderToken(tokens, index, options))
    md.renderer.rules[rule] = (tokens, index, options, env, self) => {
      env.isInTable = isInTable
      return render(tokens, index, options, env, self)
    }
  }
}

/** Draws ```mermaid blocks while the site is built, in the colours of the theme: no script draws in the browser. */
export function drawDiagrams(md) {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest)
    const svg = renderMermaidSVG(content, {
      bg: 'var(--vp-c-bg)',
      fg: 'var(--vp-c-text-1)',
      transparent: true
    })
    // It would fetch a font from elsewhere.
    const own = svg.replaceAll(/@import url\([^)]*\);?/g, '').replaceAll("'Inter', ", '')
    const label = `Diagram: ${content.match(/^\s+(.*)$/m)?.[1].trim() ?? ''} and what follows, which the table below repeats`
    return `<div class="diagram" role="img" aria-label="${md.utils.escapeHtml(label)}" tabindex="0" ${asContent(md, own)}></div>\n`
  }
}

/**
 * Pictures follow the theme that the reader chose on the site, where a repository host follows the system: of a
 * <picture> both are on the page, and a drawing becomes part of it, so that the style of the site colours it.
 */
export function followTheme(md, docs) {
  const dark =
    /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g
  md.core.ruler.push('pictures-of-theme', ({ tokens }) => {
    for (const token of tokens)
      if (token.type === 'html_block')
        token.content = token.content.replaceAll(
          dark,
          (_, ofDark, alt, ofLight) =>
            `<p class="shot"><img class="only-light" loading="lazy" alt="${alt}" src="./${ofLight}"><img class="only-dark" loading="lazy" alt="${alt}" src="./${ofDark}"></p>`
        )
  })
  const image = md.renderer.rules.image
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const source = tokens[index].attrGet('src')
    if (!/^\.?\/?(?:\.\.\/)*images\/[\w/-]+\.svg$/.test(source))
      return image(tokens, index, options, env, self)
    const svg = readFileSync(join(docs, source.slice(source.indexOf('images/'))), 'utf8')
    const label = md.utils.escapeHtml(tokens[index].content)
    const own = svg.replace(/<style>[^]*?<\/style>/, '')
    return `<span class="drawing" role="img" aria-label="${label}" ${asContent(md, own)}></span>`
  }
}
