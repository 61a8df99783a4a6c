/**
 * Markdown as elements of the page. Each is made here from the tokens of markdown-it, and no text is ever
 * read as HTML: tags in it are shown as they are written.
 */
import MarkdownIt, { type Token } from 'markdown-it'
import { h, type ComponentChildren, type VNode } from 'preact'
import { isWebAddress } from './web-link.tsx'

const reader = new MarkdownIt({ html: false, linkify: true })
// Only whole addresses become links, unlike `orders.id`.
reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false })

/** markdown-it reads nothing inside so many lists and quotes. */
const deepest = 100

export function drawMarkdown(text: string, isInline: boolean): ComponentChildren {
  const tokens = isInline ? reader.parseInline(text, {}) : reader.parse(text, {})
  // What would be lost is shown as it was written.
  return tokens.some(({ level }) => level >= deepest - 2) ? (
    <div class="as-written">{text}</div>
  ) : (
    nodesOf(tokens)
  )
}

type Open = { token: Token; children: ComponentChildren[] }

function nodesOf(tokens: readonly Token[]): ComponentChildren[] {
  const open: Open[] = []
  const nodes: ComponentChildren[] = []
  const add = (node: ComponentChildren): void => {
    ;(open.at(-1)?.children ?? nodes).push(node)
  }
  for (const token of tokens) {
    if (token.nesting === 1) open.push({ token, children: [] })
    else if (token.nesting === 0) add(leafOf(token))
    else {
      const ended = open.pop()
      if (ended) add(elementOf(ended))
    }
  }
  return nodes
}

/** The page has headings of its own above: those of a text are all below them. */
function elementOf({ token, children }: Open): ComponentChildren {
  const { tag } = token
  // Paragraphs of tight lists are hidden.
  if (token.hidden) return children
  if (tag === 'a') return linkTo(String(token.attrGet('href') ?? ''), children)
  if (/^h[1-6]$/.test(tag)) return h('h3', { class: `level-${tag[1]}` }, children)
  if (tag === 'table')
    return (
      <div class="prose-table" tabIndex={0}>
        <table>{children}</table>
      </div>
    )
  return h(tag, tag === 'ol' ? { start: token.attrGet('start') ?? undefined } : {}, children)
}

const linkTo = (href: string, children: ComponentChildren): VNode =>
  isWebAddress(href) || /^mailto:/i.test(href) ? (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    // An address within another site leads nowhere from here.
    <span title={href}>{children}</span>
  )

function leafOf(token: Token): ComponentChildren {
  switch (token.type) {
    case 'inline':
      return nodesOf(token.children ?? [])
    case 'softbreak':
      return '\n'
    case 'hardbreak':
      return <br />
    case 'hr':
      return <hr />
    case 'code_inline':
      return <code>{token.content}</code>
    case 'code_block':
    case 'fence':
      return (
        <pre tabIndex={0}>
          <code>{token.content}</code>
        </pre>
      )
    case 'image':
      // No page asks another site for an image.
      return linkTo(String(token.attrGet('src') ?? ''), token.content || token.attrGet('src'))
    default:
      return token.content
  }
}
