/**
 * Hosts on a network of their own: each a network namespace of Linux, on a bridge to this machine, whose cable can be
 * pulled. Its packets are then dropped silently.
 */
import { spawnSync } from 'node:child_process'
import type { Test } from 'tap'
import { skipUnless } from '../../support/skip.ts'

export type Host = {
  /** Now. */
  address(): string
  /** The shell command that runs `command` on this host. */
  run(command: string): string
  /** From now on nothing reaches it, and nothing that it sends arrives; inside of it all goes on. */
  cut(): void
  restore(): void
  /** Restores it with another address: connections that were open stay half open, as behind a firewall that has forgotten them. */
  restoreElsewhere(): void
}

/** Locally administered. */
const mac = '02:54:52:49:42:01'

export type Network = {
  /** The address of this machine. */
  address: string
  subnet: string
  addHost(name: string): Host
}

/**
 * Removed at teardown, after what runs on it. Null (skipped) without root, `ip` and the right to make namespaces. A
 * container often lacks that right, in CI too.
 */
export function withNetwork(t: Test): Network | null {
  const name = `trib${process.pid % 100_000}`
  const isRoot = process.getuid?.() === 0
  if (isRoot && skipUnless(t, spawnSync('ip', ['-V']).status === 0, 'ip (iproute2) is not installed'))
    return null
  if (!isRoot || !makesNetworks(`${name}-t`)) {
    t.plan(0, 'only root may make network namespaces, and not everywhere')
    return null
  }

  const prefix = `10.213.${process.pid % 250}`
  const address = `${prefix}.1`
  // Of its own, or it would be that of a cable, and change when the cable is pulled.
  ip(`link add ${name} address ${mac} type bridge`)
  const namespaces: string[] = []
  t.teardown(() => {
    for (const namespace of namespaces) spawnSync('ip', ['netns', 'del', namespace])
    ip(`link del ${name}`)
  })
  ip(`addr add ${address}/24 dev ${name}`)
  ip(`link set ${name} up`)

  return {
    address,
    subnet: `${prefix}.0/24`,
    addHost(hostName) {
      const number = namespaces.length + 2
      const namespace = `${name}-${hostName}`
      const cable = `${name}-${number}`
      let own = `${prefix}.${number}`
      ip(`netns add ${namespace}`)
      namespaces.push(namespace)
      ip(`link add ${cable} type veth peer name eth0 netns ${namespace}`)
      ip(`link set ${cable} master ${name} up`)
      ip(`-n ${namespace} addr add ${own}/24 dev eth0`)
      ip(`-n ${namespace} link set lo up`)
      ip(`-n ${namespace} link set eth0 up`)
      // Otherwise the lack of an answer to ARP would tell it that nobody is there, which a router does not.
      ip(`-n ${namespace} neigh replace ${address} lladdr ${mac} dev eth0 nud permanent`)
      const restore = (): void => {
        ip(`link set ${cable} master ${name}`)
      }
      return {
        address: () => own,
        run: (command) => `ip netns exec ${namespace} ${command}`,
        cut() {
          ip(`link set ${cable} nomaster`)
        },
        restore,
        restoreElsewhere() {
          const before = own
          own = `${prefix}.${number + 100}`
          ip(`-n ${namespace} addr del ${before}/24 dev eth0`)
          ip(`-n ${namespace} addr add ${own}/24 dev eth0`)
          ip(`-n ${namespace} neigh replace ${address} lladdr ${mac} dev eth0 nud permanent`)
          restore()
        }
      }
    }
  }
}

function makesNetworks(name: string): boolean {
  const tries = [
    `netns add ${name}`,
    `link add ${name}b type bridge`,
    `link add ${name}v type veth peer name eth0 netns ${name}`
  ]
  const isMade = tries.every((command) => spawnSync('ip', command.split(' ')).status === 0)
  for (const command of [`link del ${name}v`, `link del ${name}b`, `netns del ${name}`])
    spawnSync('ip', command.split(' '))
  return isMade
}

function ip(command: string): string {
  const { status, stdout, stderr } = spawnSync('ip', command.split(' '), { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${command}: ${stderr}`)
  return stdout
}
