/** `tributary completion SHELL`: prints a script that makes a shell complete commands and options. */
import type { Command } from '../command.ts'
import { bashScript } from '../completion/bash.ts'
import { completedCommands } from '../completion/complete-words.ts'
import { fishScript } from '../completion/fish.ts'
import { zshScript } from '../completion/zsh.ts'
import { exitCodes, Refusal } from '../failure.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const
const shells = Object.keys(scripts)

export const completion: Command = {
  notes: [
    'SHELL is bash, zsh or fish. In ~/.bashrc: eval "$(tributary completion bash)". In ~/.zshrc, after compinit: source <(tributary completion zsh). In fish: tributary completion fish > ~/.config/fish/completions/tributary.fish.'
  ],
  examples: [
    'eval "$(tributary completion bash)"',
    'tributary completion fish > ~/.config/fish/completions/tributary.fish'
  ],
  operands: ['SHELL'],
  operandWords: shells,
  options: {},
  async run({ operands: [shell = ''] }, terminal) {
    if (!isKnown(shell))
      throw new Refusal(
        `tributary completion takes ${shells.slice(0, -1).join(', ')} or ${shells.at(-1)}, not ${shell}.`
      )
    for (const line of scripts[shell](await completedCommands())
      .trimEnd()
      .split('\n'))
      terminal.out(line)
    return exitCodes.ok
  }
}

const isKnown = (shell: string): shell is keyof typeof scripts => Object.hasOwn(scripts, shell)
