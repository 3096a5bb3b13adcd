import { formatDuration } from '../format.ts'
import type { Facts, MachineFacts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

const OLDEST_NODE = [22, 18] as const
/** Until when each line of Node.js with long support gets fixes. */
const SUPPORTED_UNTIL: ReadonlyMap<number, number> = new Map([
  [22, Date.UTC(2027, 3, 30)],
  [24, Date.UTC(2028, 3, 30)],
  [26, Date.UTC(2029, 3, 30)],
])
/** node:sqlite says itself that it is experimental before this one. */
const SETTLED_SQLITE = 24
/** What Kubernetes gives a pod to end, unless told otherwise. */
const POD_GRACE_MS = 30_000
/** Beyond the drain, for leaving the fleet. */
const LEAVING_MS = 5_000

export function checkMachine({ machine, store, fleet }: Facts): Finding[] {
  return [checkNode(machine, store.kind === 'sqlite'), ...checkZoneData(machine, fleet), ...checkGrace(machine)]
}

function checkNode({ node, experimental, now }: MachineFacts, isSqlite: boolean): Finding {
  const [major = 0, minor = 0] = node.replace(/^v/, '').split('.').map(Number)
  const here = `Node.js ${node.replace(/^v/, '')}`
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    return finding('node', 'fail', `${here} is older than ${OLDEST_NODE.join('.')}.`, 'Update Node.js.')
  }
  const until = SUPPORTED_UNTIL.get(major)
  if (until !== undefined && until < now) {
    const day = new Date(until).toISOString().slice(0, 10)
    return finding('node', 'warn', `${here} gets no fixes since ${day}.`, 'Update Node.js to a line with long support.')
  }
  if (major % 2 === 1) {
    return finding('node', 'note', `${here} is of a line without long support.`, 'Use an even one in production.')
  }
  if (experimental.length > 0) {
    const flags = experimental.join(' ')
    return finding('node', 'note', `${here} runs with ${flags}.`, 'Leave out what your jobs do not need.')
  }
  if (isSqlite && major < SETTLED_SQLITE) {
    return finding(
      'node',
      'note',
      `${here} calls its SQLite experimental.`,
      `It works; ${SETTLED_SQLITE} no longer says so.`,
    )
  }
  return finding('node', 'ok', `${here}.`)
}

function checkZoneData({ zoneData, now }: MachineFacts, fleet: Facts['fleet']): Finding[] {
  const year = Number(/^\d{4}/.exec(zoneData)?.[0] ?? Number.NaN)
  const thisYear = new Date(now).getUTCFullYear()
  const found: Finding[] = []
  if (Number.isNaN(year)) {
    found.push(
      finding(
        'zone-data',
        'warn',
        'This Node.js does not tell the version of its time zone data.',
        'Use a build with full ICU.',
      ),
    )
  } else if (year < thisYear - 1) {
    found.push(
      finding(
        'zone-data',
        'warn',
        `Time zone data ${zoneData} is from ${year}: rules that changed since are not in it.`,
        'Update Node.js.',
      ),
    )
  }
  const live = (fleet?.instances ?? []).filter(({ state }) => state === 'live' || state === 'draining')
  const versions = [...new Set(live.map((instance) => instance.zoneData))].sort()
  if (versions.length > 1) {
    found.push(
      finding(
        'zone-data',
        'warn',
        `Instances have different time zone data: ${versions.join(', ')}. Local times may be other instants for some of them.`,
        'Run the same Node.js everywhere.',
      ),
    )
  } else if (versions.length === 1 && versions[0] !== zoneData) {
    found.push(
      finding(
        'zone-data',
        'note',
        `Instances have time zone data ${versions[0]}, this command ${zoneData}.`,
        'Times that it prints may differ.',
      ),
    )
  }
  return found.length > 0 ? found : [finding('zone-data', 'ok', `Time zone data ${zoneData}.`)]
}

function checkGrace({ isKubernetes, drainMs }: MachineFacts): Finding[] {
  if (!isKubernetes && drainMs === null) return []
  if (drainMs === null) {
    return [
      finding(
        'grace',
        'note',
        'In Kubernetes, and how long instances drain is not known here.',
        'Set CRONCE_DRAIN, or drain in the configuration, to have it compared.',
      ),
    ]
  }
  const needed = Math.ceil((drainMs + LEAVING_MS) / 1_000)
  const drain = `Instances drain for ${formatDuration(drainMs)}`
  if (drainMs + LEAVING_MS <= POD_GRACE_MS) {
    return [finding('grace', 'ok', `${drain}, which fits the 30s that Kubernetes gives a pod to end.`)]
  }
  const hint = `Set terminationGracePeriodSeconds to ${needed} at least.`
  return [
    finding('grace', isKubernetes ? 'warn' : 'note', `${drain}; Kubernetes gives a pod 30s to end by default.`, hint),
  ]
}
