/** Asks before something is deleted, and says what goes with it. */
import type { CommandInput, Option } from './command.ts'
import { Refusal } from './failure.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

export const yesOption: Readonly<Record<'yes', Option>> = {
  yes: { help: 'Do not ask. Without a terminal, as in a script, nothing is asked.' }
}

/**
 * Asks unless `--yes` is set or nobody is at a terminal: a script that works without a terminal never waits. The question is only read then; null if
 * there is nothing to ask about. Throws Refusal unless the answer is yes.
 */
export async function confirm(
  input: CommandInput,
  { ask }: Terminal,
  questionFor: () => Promise<string | null>
): Promise<void> {
  if (ask === null || input.isSet('yes')) return
  const question = await questionFor()
  if (question === null) return
  const answer = await ask(`${printable(question)} [y/N] `)
  if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) throw new Refusal('Nothing was changed.')
}
