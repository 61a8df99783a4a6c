/** The button in a message that undoes the last action. */
import { texts } from '../texts.ts'
import { tellError } from './toasts.tsx'

export const undoing = (work: () => Promise<unknown>, done: () => void) => ({
  label: texts.undo,
  run: () => {
    work().then(done, tellError)
  }
})
