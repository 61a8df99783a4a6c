/**
 * A text as people write it, in Markdown. What understands it is loaded with the first text that has a sign
 * of it; until then, and for very long texts, the text is shown as it was written.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type Draw = (text: string, isInline: boolean) => ComponentChildren

/** Longer texts are data rather than prose. */
const mostChars = 200_000
const hasSigns = (text: string): boolean => /[*_`[\]#<>|~\\&]|^\s*(?:[-+]|\d+[.)])\s|:\/\/|\n/m.test(text)

let draw: Draw | undefined

export function Markdown({ text, isInline = false }: { text: string; isInline?: boolean }) {
  const [, setLoaded] = useState(draw)
  const isWanted = text.length <= mostChars && hasSigns(text)
  useEffect(() => {
    if (draw || !isWanted) return
    import('./draw-markdown.tsx').then(
      (file) => {
        draw = file.drawMarkdown
        setLoaded(() => draw)
      },
      // The text stays readable without.
      () => undefined
    )
  }, [isWanted])
  if (isInline) return <span class="prose-line">{draw && isWanted ? draw(text, true) : text}</span>
  return (
    <div class={draw && isWanted ? 'prose' : 'prose as-written'}>
      {draw && isWanted ? draw(text, false) : text}
    </div>
  )
}
