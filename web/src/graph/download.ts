/** Downloads the graph as a file: SVG in the colours of the theme, PNG, or the cards as CSV. */
import { hueCount, type Colours } from './colours.ts'
import { csvOf, svgOf, type Palette } from './export.ts'
import type { Placed } from './stage.ts'
import type { ExportFormat } from './toolbar.tsx'

function paletteOf(): Palette {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  return {
    page: colour('--page'),
    surface: colour('--surface'),
    line: colour('--line'),
    text: colour('--text'),
    soft: colour('--text-soft'),
    edge: colour('--edge'),
    accent: colour('--accent'),
    hues: Array.from({ length: hueCount }, (_, hue) => colour(`--hue-${hue}`))
  }
}

/** Browsers refuse larger canvases. */
const pixelsMost = 16_000

/** Throws Error if the browser cannot make an image this large. */
export async function download(
  placed: Placed,
  title: string,
  colours: Colours,
  format: ExportFormat
): Promise<void> {
  const name = title.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80)
  if (format === 'csv') {
    save(new Blob(['\ufeff', csvOf(placed.picture)], { type: 'text/csv;charset=utf-8' }), `${name}.csv`)
    return
  }
  const svg = new Blob([svgOf(placed.scene, title, colours, paletteOf())], { type: 'image/svg+xml' })
  save(format === 'svg' ? svg : await pixelsOf(svg), `${name}.${format}`)
}

async function pixelsOf(svg: Blob): Promise<Blob> {
  const address = URL.createObjectURL(svg)
  try {
    const image = new Image()
    image.src = address
    await image.decode()
    const scale = Math.min(2, pixelsMost / Math.max(image.width, image.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.round(image.width * scale)
    canvas.height = Math.round(image.height * scale)
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    const pixels = await new Promise<Blob | null>((resolve) => {
      canvas.toBlob(resolve, 'image/png')
    })
    if (!pixels) throw new Error('The browser cannot draw a picture of this size; export it as SVG.')
    return pixels
  } finally {
    URL.revokeObjectURL(address)
  }
}

function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => {
    URL.revokeObjectURL(address)
  }, 10_000)
}
