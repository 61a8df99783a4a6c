/** How far the heap of a process that is a worker and nothing else grows before all of it is looked through for garbage. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** With less V8 knows better. */
const roomyBytes = 512 * 1024 * 1024

/**
 * Lets the heap grow to three times of what is in use, and no further than halfway to its limit, as ever. V8 would choose by how fast objects grow
 * old: of a worker that applies edges hardly any do, and so it looked through all 25 MB for each 10 more, among which it counts the columns and
 * rows of chunks, which lie outside: once a chunk or oftener, 2.2 s of processor time for a million edges instead of 1.25, and the load a tenth
 * longer. That was so whenever the heap had been looked through while the worker waited; in one that had just read documents V8
 * chose four times, and the heap grew to 205 MB where it now grows to 150.
 */
export function letHeapGrow(): void {
  if (getHeapStatistics().heap_size_limit >= roomyBytes) setFlagsFromString('--heap-growing-percent=200')
}
