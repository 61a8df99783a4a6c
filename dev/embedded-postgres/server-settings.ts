/** The server's settings: durable, only on a socket, and sized for a machine that also does other work. */

/** As `name=value`. `throwaway` gives up durability for speed: for test data only. */
export function serverSettings(socketDir: string, throwaway: boolean): string[] {
  const settings = { ...common, ...(throwaway ? fast : durable), unix_socket_directories: socketDir }
  return Object.entries(settings).map(([name, value]) => `${name}=${value}`)
}

const common = {
  // no port: no port conflicts, and the socket is the only way in
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  shared_buffers: '192MB',
  // two concurrent chunks fill the default of 6 MB and wait for each other: a million edges took 6.9 s, and
  // 6.4 s with this
  wal_buffers: '64MB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  random_page_cost: '1.1',
  // parallel plans take shared memory from /dev/shm, of which a container may have 64 MB
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  // bulk loads write much WAL; a larger limit would make recovery after a crash long
  max_wal_size: '1GB',
  min_wal_size: '128MB',
  checkpoint_timeout: '5min',
  log_checkpoints: 'off'
}

const durable = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
const fast = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
