import { useEffect, useRef } from 'preact/hooks'

/**
 * Tabs whose choice is in the address. They are links, so a tab can be opened in another browser tab, and a
 * second click changes nothing.
 */
export const Tabs = <Name extends string>({
  label,
  tabs,
  current,
  addressOf
}: {
  label: string
  tabs: readonly { name: Name; title: string }[]
  current: Name
  addressOf: (name: Name) => string
}) => {
  const bar = useRef<HTMLElement>(null)
  useEffect(() => {
    // Where there is no room for all, the bar scrolls.
    const tab = bar.current?.querySelector<HTMLElement>('[aria-current]')
    if (bar.current && tab)
      bar.current.scrollLeft = tab.offsetLeft - bar.current.clientWidth / 2 + tab.offsetWidth / 2
  }, [current])
  return (
    <nav ref={bar} class="tabs" aria-label={label}>
      {tabs.map(({ name, title }) => (
        <a key={name} href={addressOf(name)} aria-current={name === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}
