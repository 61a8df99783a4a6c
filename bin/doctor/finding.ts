/** A finding of `tributary doctor`: one line. */

export type Finding = {
  /** The subject of the check. */
  check: string
  /** `wrong` makes the doctor end with exit code 1; `note` is for information. */
  verdict: 'fine' | 'note' | 'wrong'
  text: string
}

export const fine = (check: string, text: string): Finding => ({ check, verdict: 'fine', text })

export const note = (check: string, text: string): Finding => ({ check, verdict: 'note', text })

export const wrong = (check: string, text: string): Finding => ({ check, verdict: 'wrong', text })
