/** Light or dark: the person's choice, otherwise the system's setting. */
import { signal } from '@preact/signals'

export type Theme = 'light' | 'dark'
const storageKey = 'tributary.theme'
const system = matchMedia('(prefers-color-scheme: dark)')

const stored = (): Theme | null => {
  const value = localStorage.getItem(storageKey)
  return value === 'light' || value === 'dark' ? value : null
}

export const theme = signal<Theme>('light')

function show(value: Theme): void {
  theme.value = value
  document.documentElement.dataset.theme = value
}

export function startTheme(): void {
  show(stored() ?? (system.matches ? 'dark' : 'light'))
  system.addEventListener('change', () => {
    if (!stored()) show(system.matches ? 'dark' : 'light')
  })
}

export function chooseTheme(value: Theme): void {
  localStorage.setItem(storageKey, value)
  show(value)
}
