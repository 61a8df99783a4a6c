/** Prints a completion script for bash, from 3.2 on. */
import { quoted, type CompletedCommand } from './complete-words.ts'

const quote = (text: string): string => quoted(text, "'\\''")

export function bashScript(commands: readonly CompletedCommand[]): string {
  const paths = commands
    .filter(({ path }) => path !== '')
    .map(({ path }) => quote(path))
    .join('|')
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ flag, choices, takesFile }) =>
          `    ${quote(`${path} ${flag}`)}) ${takesFile ? 'files=yes' : `words=${quote(choices.join(' '))}`} ;;`
      )
  )
  const words = commands.map(({ path, below, options, operandWords }) => {
    const operands = [...below.map(({ word }) => word), ...(operandWords === 'files' ? [] : operandWords)]
    return `        ${quote(path)}) words=${quote(operands.join(' '))} flags=${quote(options.map(({ flag }) => flag).join(' '))}${operandWords === 'files' ? ' files=yes' : ''} ;;`
  })
  return `# completion of tributary for bash: eval "$(tributary completion bash)"
_tributary() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' words='' flags='' files='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${command:+$command }$word" in
      ${paths}) command="\${command:+$command }$word" ;;
      *) break ;;
    esac
  done
  case "$command $previous" in
${values.join('\n')}
    *)
      case "$command" in
${words.join('\n')}
      esac
      [[ "$current" == -* ]] && words="$flags"
      ;;
  esac
  [[ -z "$files" ]] && compopt +o default 2>/dev/null
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _tributary tributary
`
}
