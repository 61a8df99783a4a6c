/** Line icons of 16 by 16 pixels: one for each type of asset, and one for each page. */
import type { PageName } from '../address.ts'

const paths: { readonly [type: string]: string } = {
  DATASET: 'M2 4.5h12v8H2zM2 7.5h12M6.5 7.5v5',
  DATA_JOB:
    'M8 2v2.2M8 11.8V14M2 8h2.2M11.8 8H14M3.8 3.8l1.5 1.5M10.7 10.7l1.5 1.5M12.2 3.8l-1.5 1.5M5.3 10.7l-1.5 1.5M8 5.2a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 1 0 0-5.6',
  DATA_FLOW: 'M2.5 4h3v3h-3zM10.5 9h3v3h-3zM5.5 5.5h2.5v5h2.5',
  CHART: 'M2.5 13.5h11M4 11V8M7 11V4M10 11V6M13 11V9',
  DASHBOARD: 'M2.5 2.5h5v7h-5zM9.5 2.5h4v3h-4zM9.5 7.5h4v6h-4zM2.5 11.5h5v2h-5z',
  CONTAINER: 'M2.5 5l5.5-3l5.5 3v6.5l-5.5 3l-5.5-3zM2.5 5l5.5 3l5.5-3M8 8v6.5',
  DATA_PROCESS_INSTANCE: 'M4 2.5l9 5.5l-9 5.5z',
  SCHEMA_FIELD: 'M5.5 2.5h5v11h-5zM5.5 6h5M5.5 10h5',
  DOMAIN: 'M2 12.5v-9h4l1.5 2H14v7z',
  DATA_PRODUCT: 'M2.5 6.5h11V14h-11zM2.5 6.5l2-3.5h7l2 3.5M8 3v3.5M6 9.5h4',
  TAG: 'M2.5 2.5h5.2l5.8 5.8l-5.2 5.2l-5.8-5.8zM5.3 5.3a.5.5 0 1 0 .01 0',
  GLOSSARY_TERM:
    'M3 13V3.8A1.3 1.3 0 0 1 4.3 2.5H13V11H4.5A1.5 1.5 0 0 0 3 12.5A1.2 1.2 0 0 0 4.3 13.5H13V11M6 5.5h4',
  GLOSSARY_NODE: 'M3 2.5h3v11H3zM6 2.5h3v11H6zM10 3l2.6-.6l2 10.4l-2.6.6z',
  APPLICATION: 'M2.5 3h11v10h-11zM2.5 6h11M4.5 4.5h.1M6.5 4.5h.1',
  DOCUMENT: 'M4 2.5h5.5L12.5 5.5v8h-8.5zM9 2.5v3.5h3.5M6 8.5h4.5M6 11h4.5',
  NOTEBOOK: 'M4 2.5h9v11H4zM6.5 2.5v11M2.5 5H4M2.5 8H4M2.5 11H4'
}
const model =
  'M3.5 4.5a1.5 1.5 0 1 0 0-.01M12.5 4.5a1.5 1.5 0 1 0 0-.01M8 12.5a1.5 1.5 0 1 0 0-.01M4.5 5.5l3 5.5M11.5 5.5l-3 5.5M5 4h6'

const pathOf = (type: string): string =>
  paths[type] ?? (type.startsWith('ML') ? model : 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11')

const pagePaths = {
  '': 'M2.5 8L8 3l5.5 5M4 7v6.5h8V7',
  domains: 'M2 12.5v-9h4l1.5 2H14v7z',
  map: 'M2.5 3h4v3.5h-4zM9.5 9.5h4V13h-4zM2.5 9.5h4V13h-4zM6.5 4.8h5v4.7M6.5 11.2h3',
  loads: 'M8 10.5V3M5 6l3-3l3 3M2.5 10v3.5h11V10',
  tokens: 'M11 2.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5M9.2 6.8L3 13M4.5 11.5l2 2',
  sql: 'M3 4.5c0-2.7 10-2.7 10 0v7c0 2.7-10 2.7-10 0zM3 4.5c0 2.7 10 2.7 10 0M3 8c0 2.7 10 2.7 10 0',
  explorer: 'M8 2l5.2 3v6L8 14l-5.2-3V5z',
  reference: 'M6 2.5c-2.5 0-.5 5.5-3 5.5c2.5 0 .5 5.5 3 5.5M10 2.5c2.5 0 .5 5.5 3 5.5c-2.5 0-.5 5.5-3 5.5'
} as const satisfies { readonly [page in PageName]?: string } & { explorer: string; reference: string }

/** An icon for drawings, at a place in their own coordinates. */
export const TypePath = ({ type, x, y }: { type: string; x: number; y: number }) => (
  <path class="icon" transform={`translate(${x} ${y})`} d={pathOf(type)} />
)

const Icon = ({ path }: { path: string }) => (
  <svg class="icon" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
    <path d={path} />
  </svg>
)

export const TypeIcon = ({ type }: { type: string }) => <Icon path={pathOf(type)} />

export const PageIcon = ({ page }: { page: keyof typeof pagePaths }) => <Icon path={pagePaths[page]} />

/** The sign of the product. */
export const Mark = () => (
  <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
    <path
      d="M4 8c9 0 9 8 14 8h10M4 24c9 0 9-8 14-8"
      fill="none"
      stroke="var(--accent)"
      stroke-width="4"
      stroke-linecap="round"
    />
  </svg>
)
