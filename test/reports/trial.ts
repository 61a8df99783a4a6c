/** A trial of public reports: what was tried, what was found, and the guarantee that holds it since. */
import type { World } from './world.ts'

/** How a report is named: the repository at GitHub and the number, such as `MarquezProject/marquez 3085`. */
export type ReportName = `${string}/${string} ${number}`

type Tried = {
  reports: readonly ReportName[]
  /** What was done here, in a sentence. */
  tried: string
}

export type Trial = Tried & {
  /** `mended`: the answer was wrong when the report was tried. */
  answer: 'right' | 'mended'
  /** The guarantee, as the name of a test. */
  name: string
  run: (world: World) => Promise<void>
}

/** A report whose answer is wrong, or not given, and why it stays so. */
export type Left = Tried & { why: string }
