import { hostname } from 'node:os'
import { readDefinition } from '../client/read-definition.ts'
import type { Execution } from '../model/event.ts'
import { DETECT_JOB, HEARTBEAT_PREFIX } from '../model/exclusive-jobs.ts'
import type { Run } from '../run/run.ts'
import type { AppCore } from './app-core.ts'
import { Detector } from './detect.ts'
import type { DeclaredJob } from './job.ts'
import type { Heartbeat } from './options.ts'

/** All fleets on one store write here, whatever their namespace: that is how they find each other. */
const SHARED = 'cronce:heartbeats'

const MINUTE_MS = 60_000

/** Declares the heartbeat of an app: a fire of the fleet per period, which one of its instances runs. */
export function addHeartbeat<Tx>(core: AppCore<Tx>, app: string, { everyMs, url }: Heartbeat): void {
  const name = HEARTBEAT_PREFIX + app
  const { definition } = readDefinition(
    'heartbeat',
    { every: everyMs, timeout: Math.max(everyMs, MINUTE_MS), misfire: 'skip' },
    {},
    'Job',
  )
  const job: DeclaredJob<Tx> = {
    name,
    definition: { ...definition, job: name },
    was: undefined,
    isOnEachHost: false,
    warnings: [],
    schema: undefined,
    defaults: {},
    handler: (run) => beat(core, name, everyMs, run),
    isTarget: false,
    retryIf: () => false,
    watch: undefined,
    checkIn: url === null ? undefined : { url },
  }
  core.jobs.set(name, job)
}

/** Answers which fleet it was, and the other one that writes the same heartbeat, if there is one. */
async function beat<Tx>(core: AppCore<Tx>, name: string, everyMs: number, run: Run<unknown, Tx>) {
  const { namespace } = core.resolved
  const mine = { instance: `${namespace}/${run.instance}`, host: hostname(), pid: process.pid }
  const { name: store, epoch } = core.lazy.store.info
  const shared = await core.open(SHARED)
  try {
    const detector = new Detector({ ...core, lazy: { ...core.lazy, store: shared } }, () => mine.instance)
    // Two fleets with the same period: one of them always comes within half of it after the other.
    const windowMs = Math.floor(everyMs / 2)
    const found = await detector.observe(`${DETECT_JOB}:${name}`, windowMs, false, mine)
    const other = found === null || namespaceOf(found.first) === namespace ? null : found
    if (other !== null) {
      run.log.warn(`The namespace ${namespaceOf(other.first)} of this store has the same heartbeat.`)
      core.emit({ type: 'execution.duplicated', name, windowMs, isRefused: false, ...other })
    }
    return { namespace, store, epoch, other: other === null ? null : namespaceOf(other.first) }
  } finally {
    await shared.close()
  }
}

/** Ids of instances have no slash. */
function namespaceOf({ instance }: Execution): string {
  return instance.slice(0, instance.lastIndexOf('/'))
}
