/** A link to an address in the catalog's data. Only web addresses are links: it may contain `javascript:`. */
import type { ComponentChildren } from 'preact'

export const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text)

export const WebLink = ({
  href,
  class: className,
  children
}: {
  href: string
  class?: string
  children: ComponentChildren
}) =>
  isWebAddress(href) ? (
    <a class={className} href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    <span>
      {children} <code>{href}</code>
    </span>
  )
