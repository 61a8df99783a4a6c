/**
 * The name of this process for operators: as the holder of a chunk, and as a worker in the list of workers.
 */
import { hostname } from 'node:os'

export const processName = `${hostname()}:${process.pid}`
