/** Colours for people: which outputs show them, and how a text gets one. */
import { styleText } from 'node:util'

export type Colour = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan'

/** FORCE_COLOR wins, as in Node and in most programs; then NO_COLOR, and terminals that can show none. */
export function showsColour(
  { isTTY }: { isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>
): boolean {
  if (env.FORCE_COLOR !== undefined) return !['0', 'false'].includes(env.FORCE_COLOR)
  return isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

export const paint = (text: string, colour: Colour | null, isShown: boolean): string =>
  isShown && colour !== null ? styleText(colour, text, { validateStream: false }) : text
