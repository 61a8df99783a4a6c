/** Prints a completion script for fish. */
import { quoted, type CompletedCommand } from './complete-words.ts'

const quote = (text: string): string => quoted(text, "\\'")

export function fishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands
    .filter(({ path }) => path !== '')
    .map(({ path }) => quote(` ${path}`))
    .join(' ')
  const lines = commands.flatMap(({ path, below, options, operandWords }) => {
    const begin = `complete -c tributary -n ${quote(`test (__tributary_command) = "${path}"`)}`
    return [
      ...below.map(({ word, help }) => `${begin} -a ${word} -d ${quote(help)}`),
      ...(operandWords === 'files'
        ? [`${begin} -F`]
        : operandWords.length === 0
          ? []
          : [`${begin} -a ${quote(operandWords.join(' '))}`]),
      ...options.map(
        ({ flag, help, takesValue, takesFile, choices }) =>
          `${begin} -l ${flag.slice(2)}${!takesValue ? '' : takesFile ? ' -r -F' : ` -x${choices.length > 0 ? ` -a ${quote(choices.join(' '))}` : ''}`} -d ${quote(help)}`
      )
    ]
  })
  return `# completion of tributary for fish: tributary completion fish | source
function __tributary_command
  set -l command
  for word in (commandline -opc)[2..-1]
    switch "$command $word"
      case ${paths}
        set command "$command $word"
      case '*'
        break
    end
  end
  string trim -- "$command"
end
complete -c tributary -f
${lines.join('\n')}
`
}
