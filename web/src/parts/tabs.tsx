/** Tabs whose choice is in the address: links, so that a tab can be opened beside, and a second click changes nothing. */
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
