/** What operators call this process: the holder of a chunk, and a worker in the list of workers. */
import { hostname } from 'node:os'

export const processName = `${hostname()}:${process.pid}`
