import type { OpenOptions, Store, StoreInfo } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { WakeUp } from '../wake-up.ts'
import { listActivity } from './activity.ts'
import { activityArgs } from './apply.ts'
import { ChangeWriter } from './change-writer.ts'
import { beatValues, listInstances, readBeat } from './instances.ts'
import { encodeName, instantOf, memberOf, namespaceKey, neverKey, packToken, wakeChannel } from './keys.ts'
import type { Link, Script, Session } from './link.ts'
import { listLatest, listRecords } from './list-records.ts'
import { countFires, listEnds, listSchedules } from './lists.ts'
import { Liveness } from './liveness.ts'
import { type Answer, Asker } from './moment.ts'
import { prune } from './prune.ts'
import { Schedules } from './schedules.ts'
import { ADD_ACTIVITY, ANNOTATE, BEAT, DUE, ERASE, LOAD, LOAD_APP, MARK, SAVE_APP, STEP } from './scripts.ts'
import { listSteps, stepAnswerOf, stepValues } from './steps.ts'

export interface RedisOpening extends Pick<OpenOptions, 'namespace'> {
  readonly prefix: string
  /** An answer counts only when replicas have the data that it is based on. */
  readonly waits: boolean
  /** Write plain changes with the scripts for them. Only tests do otherwise. @default true */
  readonly plain?: boolean | undefined
}

export async function openStore(link: Link, opening: RedisOpening): Promise<Store<never>> {
  return RedisStore.open(link, opening)
}

/**
 * One opening of a namespace.
 * Methods are properties of the object, so that a wrapper can spread a store and replace some of them.
 */
class RedisStore implements Store<never> {
  readonly info: StoreInfo
  readonly #link: Link
  /** The key that all keys of the namespace begin with. */
  readonly #key: string
  readonly #session: Session
  readonly #liveness: Liveness
  readonly #wakeUp: WakeUp
  readonly #asker: Asker
  readonly #schedules: Schedules
  readonly #changes: ChangeWriter
  #closing: Promise<void> | null = null

  static async open(link: Link, opening: RedisOpening): Promise<RedisStore> {
    const store = new RedisStore(link, await link.session(), opening)
    await store.#ask(LOAD, ['0'])
    // Scripts ignore it when the user may not publish. Here that is an error, on a channel without listeners.
    await link.command(store.#key, [store.#session.publish, neverKey(store.#key), ''])
    return store
  }

  private constructor(link: Link, session: Session, { namespace, prefix, waits, plain = true }: RedisOpening) {
    const key = namespaceKey(prefix, namespace)
    this.#link = link
    this.#key = key
    this.#session = session
    const liveness = new Liveness(link, key)
    const wakeUp = new WakeUp(wakeChannel(key), async () => session)
    const schedules = new Schedules(this.#ask)
    const onMove = (): void => {
      schedules.forget()
      // This instance must send a heartbeat at once: the store waits until it has written again what the store may have lost.
      wakeUp.ring('doubt')
    }
    const asker = new Asker(link, key, { waits, onMove })
    this.#liveness = liveness
    this.#wakeUp = wakeUp
    this.#schedules = schedules
    this.#asker = asker
    this.#changes = new ChangeWriter({ asker, ask: this.#ask, schedules, session, wakeUp, usesPlain: plain })
    this.info = infoOf(link, asker, liveness)
  }

  readonly #ask = async (script: Script, args: readonly string[]): Promise<Answer> => {
    this.#requireOpen()
    return this.#asker.ask(script, args)
  }

  readonly load: Store['load'] = (ids) => this.#schedules.load(ids)

  readonly due: Store['due'] = async ({ jobs, patienceMs, aheadMs = 0, limit }) => {
    const times = [patienceMs, aheadMs, limit].map(String)
    const args = [...times, ...jobs.flatMap(({ job, buckets }) => [encodeName(job), buckets])]
    const answer = await this.#ask(DUE, args)
    const [mineAt = '', othersAt = ''] = answer.lines
    const found = await this.#schedules.readAt(answer, 2)
    return { epoch: answer.epoch, ...found, mineAt: instantOf(mineAt), othersAt: instantOf(othersAt) }
  }

  readonly apply: Store<never>['apply'] = async (changes, options = {}) => {
    if (options.activity !== undefined) await this.#ask(ADD_ACTIVITY, activityArgs(options.activity))
    return this.#changes.apply(changes, options)
  }

  readonly beat: Store['beat'] = async (given) => {
    this.#requireOpen()
    const wakeUp = this.#wakeUp
    const { id, state } = given.instance
    if (given.join) await this.#liveness.hold(id)
    const isNews = given.join || given.wake === true || state === 'left'
    const args = [...beatValues(given), isNews ? '1' : '0', this.#session.publish, wakeUp.channel, wakeUp.payload]
    const { now, epoch, lines } = await this.#ask(BEAT, args)
    const { alive, number, bases, appVersion, prunable, instances, busy, held, orphans } = readBeat(id, lines)
    if (number === null || state === 'left') this.#liveness.release(id)
    if (isNews) wakeUp.ring()
    for (const peer of busy) wakeUp.markBusy(peer)
    const lost = this.#asker.isLost(bases, epoch)
    return { alive, number, now, epoch, lost, held, instances, chores: { appVersion, orphans, prunable } }
  }

  readonly mark: Store['mark'] = async (mark) => {
    const wakeUp = this.#wakeUp
    const id = encodeName(mark.instance)
    if (mark.kind === 'dead') return this.#askFlag(MARK, [id, String(mark.renewals), mark.hint ? '1' : '0'])
    const wakeUpArguments = [this.#session.publish, wakeUp.channel, wakeUp.payload]
    const more = [...wakeUpArguments, ...(mark.activity === undefined ? [] : activityArgs(mark.activity))]
    const isMarked = await this.#askFlag(MARK, [id, '', mark.drain ? '1' : '0', ...more])
    if (isMarked) wakeUp.ring()
    return isMarked
  }

  readonly step: Store['step'] = async (command) => stepAnswerOf((await this.#ask(STEP, stepValues(command))).lines)

  readonly annotate: Store['annotate'] = async (notes) => {
    const args = notes.flatMap(({ schedule, token, progress, log, logCut }) => [
      memberOf(schedule),
      packToken(token),
      JSON.stringify({ progress, log, logCut }),
    ])
    const { lines } = await this.#ask(ANNOTATE, args)
    const runs = notes.map(({ schedule, token }) => ({ schedule, token }))
    return { stale: lines.map((place) => runs[Number(place)]!) }
  }

  readonly transact: Store['transact'] = async () => {
    const message = `${this.#link.name} has no transactions of yours to settle a fire in.`
    throw new StoreError('STORE_CANNOT_TRANSACT', message, {
      hint: 'Use at-least-once with run.once for each effect, or check run.token where the effect is kept.',
    })
  }

  readonly loadApp: Store['loadApp'] = async (name) => {
    const { now, lines } = await this.#ask(LOAD_APP, [encodeName(name)])
    return { now, app: lines[0] === undefined ? null : JSON.parse(lines[0]) }
  }

  readonly saveApp: Store['saveApp'] = (app, activity) => {
    const line = activity === undefined ? [] : activityArgs(activity)
    return this.#askFlag(SAVE_APP, [encodeName(app.name), String(app.version), JSON.stringify(app), ...line])
  }

  readonly listSchedules: Store['listSchedules'] = async (query) => {
    this.#requireOpen()
    return listSchedules({ ask: this.#ask, schedules: this.#schedules }, query)
  }

  readonly listRecords: Store['listRecords'] = async (query) => {
    this.#requireOpen()
    return listRecords({ ask: this.#ask, schedules: this.#schedules }, query)
  }

  readonly listLatest: Store['listLatest'] = async (query) => {
    this.#requireOpen()
    return { now: (await this.#ask(LOAD, ['0'])).now, fires: await listLatest(this.#ask, query) }
  }

  readonly countFires: Store['countFires'] = (query) => countFires(this.#ask, query)

  readonly listEnds: Store['listEnds'] = async (query) => {
    this.#requireOpen()
    return listEnds(this.#ask, query)
  }

  readonly listActivity: Store['listActivity'] = (query) => listActivity(this.#ask, query)

  readonly listSteps: Store['listSteps'] = (fire) => listSteps(this.#ask, fire)

  readonly listInstances: Store['listInstances'] = (query) => listInstances(this.#ask, query)

  readonly prune: Store['prune'] = async (limit, schedule) => {
    if (schedule === undefined) return { deleted: await prune(this.#ask, limit) }
    const { lines } = await this.#ask(ERASE, [memberOf(schedule), String(limit)])
    if (lines[0] !== 'exists') return { deleted: Number(lines[0]) }
    throw new StoreError('SCHEDULE_EXISTS', `Schedule ${schedule} still exists.`, {
      hint: 'Remove it first: its records are what keeps it from running twice.',
    })
  }

  readonly watch: Store['watch'] = (listener) => {
    this.#requireOpen()
    return this.#wakeUp.watch(listener)
  }

  readonly probe: Store['probe'] = async (asked) => {
    this.#requireOpen()
    return this.#liveness.probe(asked, (instance) => this.#wakeUp.isBusy(instance))
  }

  readonly close: Store['close'] = () => {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#wakeUp.close()
    this.#liveness.close()
    await this.#link.close()
  }

  #requireOpen(): void {
    if (this.#closing === null) return
    throw new StoreError('STORE_CLOSED', `${this.#link.name} was closed.`, { hint: 'Open it again.' })
  }

  async #askFlag(script: Script, args: readonly string[]): Promise<boolean> {
    return (await this.#ask(script, args)).lines[0] === '1'
  }
}

function infoOf(link: Link, asker: Asker, liveness: Liveness): StoreInfo {
  return {
    name: link.name,
    get epoch() {
      return asker.epoch
    },
    transactions: false,
    get probes() {
      return liveness.isHolding()
    },
    losesWrites: true,
    leaseClock: 'boot',
  }
}
