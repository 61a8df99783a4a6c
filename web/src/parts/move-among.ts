/** Moves the focus up and down a list with the arrow keys. */

/**
 * Moves it to the next or the last of the elements that the selector finds, to the first from outside of the list, and
 * from the first upwards to what `above` finds.
 */
export function moveAmong(
  event: KeyboardEvent,
  list: HTMLElement | null,
  selector: string,
  above: () => HTMLElement | null = () => null
): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const all = [...(list?.querySelectorAll<HTMLElement>(selector) ?? [])]
  const at = all.findIndex((each) => each === document.activeElement)
  const next = event.key === 'ArrowDown' ? all[at + 1] : at > 0 ? all[at - 1] : at === 0 ? above() : null
  if (!next) return
  event.preventDefault()
  next.focus()
}
