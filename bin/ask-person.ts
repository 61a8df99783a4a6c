/** Asks a person at a terminal a question, and reads one line. */
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** Null after Ctrl-C, Ctrl-D, or the end of the input. */
export function askPerson(question: string, input: Readable, output: Writable): Promise<string | null> {
  const lines = createInterface({ input, output, terminal: true })
  return new Promise((resolve) => {
    let isAnswered = false
    lines.on('SIGINT', () => {
      lines.close()
    })
    lines.on('close', () => {
      // what is printed next does not continue the line of the question
      if (!isAnswered) output.write('\n')
      resolve(null)
    })
    lines.question(question, (answer) => {
      isAnswered = true
      resolve(answer)
      lines.close()
    })
  })
}
