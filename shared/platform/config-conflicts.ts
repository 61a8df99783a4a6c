/** Keys of the configuration that contradict each other, although each is well formed. */

/** Says for each conflict which key is wrong. Values that could not be read are absent. */
export function conflictsOf(values: Readonly<Record<string, unknown>>): string[] {
  const { redisUrl, redisSentinels, redisClusterNodes } = values
  const problems: string[] = []
  if (redisSentinels && redisUrl === null)
    problems.push('REDIS_URL must be set if REDIS_SENTINELS is: its host is the name of the primary')
  if (!redisClusterNodes) return problems
  if (redisSentinels)
    problems.push('REDIS_CLUSTER_NODES must be absent if REDIS_SENTINELS is set: Redis is one or the other')
  const url = typeof redisUrl === 'string' && URL.canParse(redisUrl) ? new URL(redisUrl) : null
  if (redisUrl === null || (redisUrl !== undefined && !url?.hostname))
    problems.push('REDIS_URL must be the URL of one of REDIS_CLUSTER_NODES: it has their user and password')
  if (url !== null && namesDatabase(url))
    problems.push(
      'REDIS_URL must be without a database number: a Redis Cluster (REDIS_CLUSTER_NODES) has only 0'
    )
  return problems
}

const namesDatabase = ({ pathname, searchParams }: URL): boolean =>
  ![pathname.slice(1), searchParams.get('db') ?? ''].every((number) => ['', '0'].includes(number))
