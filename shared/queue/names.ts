/**
 * Names used in the queue. The braces are a Redis Cluster hash tag: they keep all keys of the queue in one
 * slot.
 */
export const queueNames = {
  chunks: '{tributary-chunks}'
} as const

/** What is written to find out whether Redis accepts writes: among the keys of the queue, which rights may be limited to. */
export const writeCheckKey = `bull:${queueNames.chunks}:write-check`

export const jobNames = {
  lookAtChunk: 'look-at-chunk'
} as const

/** The name of the queue in traces. */
export const tracedQueueName = 'tributary-chunks'

/** The schema of the queue if it is in Postgres. */
export const queueSchema = 'bullmq'
