import type { AppRecord, RefusedDeclaration } from '../../model/app.ts'
import type { EventOf } from '../../model/event.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Refusal } from '../../policy/decision.ts'
import { findDeployment, recordRefusals } from '../../policy/deploy/deployment.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import { declaredNames, isOf } from './declarations.ts'
import type { GuardedWrites } from './guarded-writes.ts'
import { type Named, notContinued } from './other-names.ts'

/** A live process of another app that declares a schedule of this process. */
interface Rival {
  readonly key: string
  readonly schedule: string
  readonly peer: InstanceRecord
}

const BATCH = 200
export const NAME_TAKEN = 'SCHEDULE_NAME_TAKEN'
const RENAME_IGNORED = 'RENAME_IGNORED'

/** Reports declarations that were refused, of this process and of others that declare the same names: each cause once. */
export class RefusalReporter {
  readonly #core: Core
  readonly #writes: GuardedWrites
  readonly #names: readonly string[]
  #refusals: readonly RefusedDeclaration[] = []
  readonly #reported = new Set<string>()
  /** Declarations of other apps that the last heartbeat showed, and that this process has not looked up in the store yet. */
  #rivals: readonly Rival[] = []
  /** The rivals that were looked up since this process last declared its schedules. */
  readonly #lookedUp = new Set<string>()

  constructor(core: Core, writes: GuardedWrites) {
    this.#core = core
    this.#writes = writes
    this.#names = declaredNames(core)
  }

  get hasRivals(): boolean {
    return this.#rivals.length > 0
  }

  /** Whether the last declaration of this name was refused. */
  isRefused(name: string): boolean {
    return this.#refusals.some(({ schedule }) => schedule === name)
  }

  /** This process has declared its schedules, and these were refused. */
  declared(refusals: readonly RefusedDeclaration[]): void {
    this.#refusals = refusals
    this.#lookedUp.clear()
  }

  /**
   * Two releases with one id: both names belong to the deployment, and are two jobs. `continued`: by declared name, the other job that
   * continues its old name. `named`: the schedules of all names.
   */
  reportIgnoredRenames(record: AppRecord, continued: ReadonlyMap<string, string>, named: Named): void {
    const { deployment, declared } = this.#core.settings
    const { declares, explicit } = findDeployment(record, deployment)!
    for (const { id: schedule, was } of declared) {
      const by = continued.get(schedule)
      if (was === undefined || by === undefined) continue
      const message = `The rename of ${was} to ${schedule} is ignored, and both run: ${by} continues ${was}. If ${schedule} is another job, leave out was. If it is not, leave out ${by}.`
      this.#reportOnce(`${RENAME_IGNORED} ${schedule}`, { schedule, code: RENAME_IGNORED, message })
    }
    for (const { id: schedule, was } of declared) {
      if (was === undefined || !explicit || !declares.includes(was) || this.#names.includes(was)) continue
      const message = `The rename of ${was} to ${schedule} is ignored, and both run: processes of the deployment ${deployment} declare both names. Give each release an id of its own.`
      this.#reportOnce(`${RENAME_IGNORED} ${schedule}`, { schedule, code: RENAME_IGNORED, message })
    }
    for (const wish of named.several) {
      const old = notContinued(wish, named)
      if (old === undefined) continue
      const message = notContinuedMessage(wish.id, old, named.app)
      this.#reportOnce(`${RENAME_IGNORED} ${wish.id}`, { schedule: wish.id, code: RENAME_IGNORED, message })
    }
  }

  /**
   * The refused process and the process that has the name both report a refusal; operators find it in the record. `null`: another
   * process was faster. Throws when the store does.
   */
  async report(record: AppRecord): Promise<AppRecord | null> {
    const core = this.#core
    // Where processes only call `runDue`, no other process removes the refusals of those that have ended.
    const others = record.refused.filter(
      (one) =>
        one.instance !== core.fleet.instance && this.#names.includes(one.schedule) && isOfLiveInstance(core, one),
    )
    // With the message: the same name may be refused for another reason later, which needs another fix.
    for (const { schedule, code, message } of this.#refusals)
      this.#reportOnce(`${code} ${schedule} ${message}`, { schedule, code, message })
    for (const { schedule, code, message, instance, deployment: its, host, pid } of others) {
      // One report for each cause: a process whose own declaration is refused for it has reported it already.
      if (this.#refusals.some((own) => own.code === code && own.schedule === schedule)) continue
      const process = { instance, deployment: its, host, pid }
      this.#reportOnce(`${code} ${schedule} ${its}`, { schedule, code, message, process })
    }
    const next = recordRefusals(record, core.fleet.instance, this.#refusals)
    if (next === null) return record
    return (await this.#writes.save(next)) ? next : null
  }

  /** Finds live processes of other apps that declare a schedule which this process declares, too: one for each app and schedule. */
  findRivals(): void {
    const found = new Map<string, Rival>()
    const own = new Set(this.#names.filter((name) => !this.isRefused(name)))
    for (const peer of this.#core.fleet.peers.filter((one) => one.app !== this.#core.settings.app)) {
      for (const schedule of peer.jobs.filter((name) => own.has(name))) {
        const key = `${NAME_TAKEN} ${schedule} of ${peer.app}`
        const isKnown = this.#reported.has(key) || this.#lookedUp.has(key) || found.has(key)
        if (!isKnown) found.set(key, { key, schedule, peer })
      }
    }
    this.#rivals = [...found.values()]
  }

  /**
   * Reports the declarations of other apps that are refused because this app has the name. The store decides which app has it: if this
   * process hung, another app may have taken over the name since its last declaration. Throws when the store does.
   */
  async reportRivals(): Promise<void> {
    const core = this.#core
    const { app } = core.settings
    const found = this.#rivals
    this.#rivals = []
    for (let start = 0; start < found.length; start += BATCH) {
      const batch = found.slice(start, start + BATCH)
      const ids = [...new Set(batch.map(({ schedule }) => schedule))]
      const { schedules } = await callStore(core, 'deploy (look)', () => core.parts.store.load(ids))
      const held = new Set(
        schedules.filter((state) => isOf(state, app) && state.retiredAt === null).map(({ id }) => id),
      )
      for (const { key, schedule, peer } of batch) {
        this.#lookedUp.add(key)
        if (!held.has(schedule)) continue
        const message = `The app ${peer.app} declares a job ${schedule} as well, which is refused there: ${app} alone runs it. Rename one of the two jobs.`
        const process = { instance: peer.id, deployment: peer.deployment, host: peer.host, pid: peer.pid }
        this.#reportOnce(key, { schedule, code: NAME_TAKEN, message, process })
      }
    }
  }

  #reportOnce(key: string, about: Omit<EventOf<'schedule.refused'>, 'type' | 'job'>): void {
    if (this.#reported.has(key)) return
    this.#reported.add(key)
    this.#core.parts.emit({ type: 'schedule.refused', job: about.schedule, ...about })
  }
}

/** `old`: the schedule in `was`. */
function notContinuedMessage(id: string, { id: was, source }: ScheduleState, app: string): string {
  const ignored = `The rename of ${was} to ${id} is ignored: an earlier release of ${app} had ${id} as a job of its own.`
  if (source.kind !== 'code' || source.app === app)
    return `${ignored} ${was} is retired, and ${id} does not take over its pause and what it had due. Check ${was}, and leave out was.`
  return `${ignored} ${was} is a job of the app ${source.app}, and both run. If they are one job, remove it from ${source.app}; in any case leave out was.`
}

export function isOfLiveInstance({ fleet }: Core, { instance }: RefusedDeclaration): boolean {
  return fleet.peers.some(({ id }) => id === instance)
}

/** A refusal as the app's record holds it. */
export function refusalOf(core: Core, schedule: string, { refused, message, hint }: Refusal): RefusedDeclaration {
  const { deployment, host, pid } = core.settings
  const about = { schedule, deployment, instance: core.fleet.instance, host, pid }
  return { ...about, code: refused, message: `${message} ${hint}`, at: core.time.estimate() }
}
