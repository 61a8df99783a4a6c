/** How things are called in the queue. The braces are a Redis Cluster hash tag: all keys of the queue live in one slot. */
export const queueNames = {
  chunks: '{tributary-chunks}'
} as const

export const jobNames = {
  lookAtChunk: 'look-at-chunk'
} as const

/** The schema of the queue where it lives in Postgres. */
export const queueSchema = 'bullmq'
