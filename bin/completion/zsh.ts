/** Prints a completion script for zsh. */
import { quoted, type CompletedCommand } from './complete-words.ts'

const quote = (text: string): string => quoted(text, "'\\''")

/** In the form of `_describe`: the word, a colon, its description. */
const described = (word: string, help: string): string => quote(`${word.replaceAll(':', '\\:')}:${help}`)

export function zshScript(commands: readonly CompletedCommand[]): string {
  const paths = commands
    .filter(({ path }) => path !== '')
    .map(({ path }) => quote(path))
    .join('|')
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ flag, choices, takesFile }) =>
          `    (${quote(`${path} ${flag}`)}) ${takesFile ? '_files; ' : choices.length > 0 ? `compadd -- ${choices.map(quote).join(' ')}; ` : ''}return ;;`
      )
  )
  const words = commands.map(({ path, below, options, operandWords }) => {
    const operands = [
      ...below.map(({ word, help }) => described(word, help)),
      ...(operandWords === 'files' ? [] : operandWords.map(quote))
    ]
    return `    (${quote(path)}) operands=(${operands.join(' ')}) flags=(${options.map(({ flag, help }) => described(flag, help)).join(' ')})${operandWords === 'files' ? ' files=yes' : ''} ;;`
  })
  return `#compdef tributary
# completion of tributary for zsh: source <(tributary completion zsh)
_tributary() {
  local command='' files='' word
  local -a operands flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${command:+$command }$word" in
      (${paths}) command="\${command:+$command }$word" ;;
      (*) break ;;
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe 'option' flags
  else
    (( \${#operands} )) && _describe 'command' operands
    [[ -n "$files" ]] && _files
  fi
}
compdef _tributary tributary
`
}
