/** The lineage graph of one process: loaded from one snapshot, made fresh before each read, loaded anew where that cannot be done. */
import type { LineageReader } from './lineage-reader.ts'

export type LineageMemory = {
  /** A reader that is no older than this call, or null where SQL must answer (loading, switched off, too large). Release it when done. */
  open: () => Promise<{ reader: LineageReader, release: () => void } | null>
}
