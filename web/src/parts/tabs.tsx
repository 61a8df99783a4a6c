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
}) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ name, title }) => (
      <a key={name} href={addressOf(name)} aria-current={name === current ? 'page' : undefined}>
        {title}
      </a>
    ))}
  </nav>
)
