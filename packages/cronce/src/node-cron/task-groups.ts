import { isatty } from 'node:tty'
import { STOP_GRACE_MS } from '../app/lifecycle.ts'
import { pm2Warning } from '../app/pm2.ts'
import { stopOnSignals } from '../app/signals.ts'
import { stoppingLine } from '../app/status-lines.ts'
import { readName } from '../client/read-name.ts'
import { systemClock } from '../clock.ts'
import { CronceError } from '../errors.ts'
import type { StoreSource } from '../store/store.ts'
import { ownSource } from './own-source.ts'
import { type Place, placeOf } from './place-task.ts'
import { resolveSetup, type Setup, type SetupOptions } from './setup.ts'
import type { Task, TaskHooks } from './task.ts'
import { type Member, type Start, TaskGroup } from './task-group.ts'
import { sharedLogger } from './task-logger.ts'
import type { RunCoordinator } from './task-types.ts'
import { within } from './within.ts'

/** With more groups of a kind, all their tasks are put into one. */
const MOST_CREWS = 4
const LEAVE_MS = 5_000
/** How long the last execution of a task waits until its schedule is on record as finished. */
const RECORD_MS = 5_000
/** The end of the time that shutdown() gives, in which runs are aborted and may react to it. */
const LONGEST_GRACE_MS = 1_000
const clock = systemClock()

/** All tasks of this process, and who runs them. */
export class TaskGroups implements TaskHooks {
  /** By id: those that were made and not destroyed. */
  readonly tasks = new Map<string, Task>()
  readonly #started = new Set<Task>()
  readonly #groups = new Set<TaskGroup>()
  readonly #leaving = new Set<TaskGroup>()
  readonly #ownInstances = new Set<string>()
  /** Of tasks that are this process's own: a new one each time it starts, since nothing is owed for the time before. */
  readonly #ownIds = new Map<Task, string>()
  /** Of tasks that are the fleet's. */
  readonly #sharedStarts = new Map<Task, Start>()
  #starts = 0
  #given: SetupOptions | null = null
  #setup: Setup | null = null
  #own: StoreSource | null = null
  #coordinator: RunCoordinator | undefined
  #isGrouping = false
  #ignoreSignals: (() => void) | null = null
  readonly #warned = new Set<string>()

  setup(options: SetupOptions): void {
    if (this.#groups.size > 0 || this.#leaving.size > 0) {
      throw new CronceError('ALREADY_STARTED', 'cron.setup() comes too late: tasks run already.', {
        hint: 'Call it before tasks are started, at the latest in the same turn of the event loop.',
      })
    }
    // Report what is wrong with it now.
    this.#setup = resolveSetup(options)
    this.#given = options
  }

  setCoordinator(coordinator: RunCoordinator | undefined): void {
    this.#coordinator = coordinator
    for (const task of this.#started) {
      if (task.options.distributed !== true) continue
      this.moved(task)
      // Else it would owe all slots that the fleet runs meanwhile when it is this process's own again.
      const isShared = this.#setup !== null && placeOf(task, this.#setup, () => coordinator).kind === 'shared'
      if (isShared) this.#forgetOwn(task)
    }
  }

  add(task: Task): void {
    this.tasks.set(task.id, task)
  }

  started(task: Task): void {
    this.#started.add(task)
    this.#sharedStarts.set(task, { isPut: false })
    this.#groupSoon()
  }

  stopped(task: Task): void {
    if (!this.#started.delete(task)) return
    this.#sharedStarts.delete(task)
    const group = this.#groupOf(task)
    if (group !== undefined) this.#retire(group)
    this.#forgetOwn(task)
  }

  moved(task: Task): void {
    const group = this.#groupOf(task)
    if (group !== undefined) this.#retire(group)
    this.#groupSoon()
  }

  listening(task: Task): void {
    this.#groupOf(task)?.watchOthers()
  }

  destroyed(task: Task): void {
    this.tasks.delete(task.id)
  }

  async usedUp(task: Task, slot: Date): Promise<void> {
    const group = [...this.#leaving].find(({ isShared, members }) => isShared && isAmong(task, members))
    if (group !== undefined) await within(clock.sleep, RECORD_MS, group.endSchedule(task, slot), () => {})
  }

  shutdown(timeoutMs: number): Promise<void> {
    const graceMs = Math.min(LONGEST_GRACE_MS, timeoutMs / 2)
    return this.#leave(timeoutMs - graceMs, graceMs)
  }

  async #leave(drainMs: number, graceMs: number): Promise<void> {
    const tasks = [...this.tasks.values()]
    for (const task of tasks) quietly(task, 'stopping', () => task.stop())
    const leaving = [...this.#leaving]
    await within(clock.sleep, drainMs, Promise.all(leaving.map((group) => group.ended)), () => {})
    for (const task of tasks) quietly(task, 'destroying', () => task.destroy())
    // Another process goes on with what was not finished.
    const cut = [...this.#leaving].map((group) => group.cut(graceMs).then(() => group.ended))
    await within(clock.sleep, LEAVE_MS, Promise.all(cut), () => {})
    if (this.#groups.size > 0) return
    this.#setup = null
    this.#ignoreSignals?.()
    this.#ignoreSignals = null
  }

  /** On SIGTERM and SIGINT runs may finish, as those of an app may. */
  #listen({ signals, drainMs }: Setup): void {
    if (!signals || this.#ignoreSignals !== null) return
    this.#ignoreSignals = stopOnSignals((signal) => {
      const running = [...this.#groups, ...this.#leaving].flatMap((group) => group.running)
      const line = stoppingLine(running, { drainMs, signal, isTerminal: isatty(0) })
      if (line !== null) sharedLogger.info(line)
      return this.#leave(drainMs, STOP_GRACE_MS)
    })
    const warning = pm2Warning(process.env, drainMs)
    if (warning !== null) this.#warnOnce(warning)
  }

  #ownIdOf(task: Task): string {
    const id = this.#ownIds.get(task) ?? `${task.id}.${++this.#starts}`
    this.#ownIds.set(task, id)
    return id
  }

  /** Of a task whose group is retired. */
  #forgetOwn(task: Task): void {
    const id = this.#ownIds.get(task) ?? ''
    this.#ownIds.delete(task)
    // A run of it may still go on in a group that it was in before.
    const holders = [...this.#leaving].filter((other) => !other.isShared && other.members.has(id))
    const [any] = holders
    if (any !== undefined) void Promise.all(holders.map((holder) => holder.ended)).then(() => any.forget(id))
  }

  #groupOf(task: Task): TaskGroup | undefined {
    return [...this.#groups].find(({ members }) => isAmong(task, members))
  }

  /** At once it begins nothing more; its other tasks go on in a new one. */
  #retire(group: TaskGroup): void {
    this.#groups.delete(group)
    this.#leaving.add(group)
    group.retire()
    void group.ended.then(() => this.#leaving.delete(group))
    if ([...group.members.values()].some(({ task }) => this.#started.has(task))) this.#groupSoon()
  }

  /** What is started in one turn goes together. */
  #groupSoon(): void {
    if (this.#isGrouping) return
    this.#isGrouping = true
    setImmediate(() => {
      this.#isGrouping = false
      this.#group()
    })
  }

  #group(): void {
    const setup = this.#setup ?? this.#readSetup()
    if (setup === null) return
    const grouped = new Set([...this.#groups].flatMap((group) => [...group.members.values()].map(({ task }) => task)))
    const free = [...this.#started].filter((task) => !grouped.has(task))
    for (const isShared of [true, false]) {
      for (const keepAlive of [true, false]) {
        const members = free
          .filter((task) => task.keepsAlive === keepAlive)
          .flatMap((task) => this.#memberOf(task, setup, isShared))
        if (members.length > 0) this.#form(this.#unique(members, isShared), { isShared, keepAlive, setup })
      }
    }
  }

  #readSetup(): Setup | null {
    try {
      this.#setup = resolveSetup(this.#given ?? {})
      return this.#setup
    } catch (error) {
      // The environment names a store that there is none of.
      for (const task of [...this.#started]) task.failed(error as Error)
      return null
    }
  }

  #memberOf(task: Task, setup: Setup, isShared: boolean): Member[] {
    // A listener that heard of another failure may have stopped it.
    if (!this.#started.has(task)) return []
    const place = placeOf(task, setup, () => this.#coordinator)
    if (place.kind === 'impossible') {
      task.failed(place.error)
      return []
    }
    if ((place.kind === 'shared') !== isShared) return []
    this.#warn(task, place, setup)
    if (place.kind === 'shared') return named(task, place.name, this.#sharedStarts.get(task)!)
    // It is reported nowhere else.
    return [{ id: this.#ownIdOf(task), task, coordinator: place.coordinator, start: { isPut: false } }]
  }

  /** Two tasks of one name would be one: half of what they do would never be done. */
  #unique(members: readonly Member[], isShared: boolean): Member[] {
    if (!isShared) return [...members]
    const taken = new Set([...this.#groups].flatMap((group) => (group.isShared ? [...group.members.keys()] : [])))
    return members.filter(({ id, task }) => {
      const isFree = !taken.has(id)
      taken.add(id)
      if (!isFree) task.failed(nameTaken(id))
      return isFree
    })
  }

  #form(members: readonly Member[], kind: Pick<TaskGroup, 'isShared' | 'keepAlive'> & { readonly setup: Setup }): void {
    const alike = [...this.#groups].filter(
      (group) => group.isShared === kind.isShared && group.keepAlive === kind.keepAlive,
    )
    const all = [...members]
    if (alike.length >= MOST_CREWS) {
      for (const group of alike) {
        all.push(...group.members.values())
        this.#retire(group)
      }
    }
    if (all.length === 0) return
    this.#listen(kind.setup)
    this.#own ??= ownSource()
    const source = kind.isShared ? kind.setup.source! : this.#own
    this.#groups.add(new TaskGroup({ ...kind, members: all, source, ownInstances: this.#ownInstances }))
  }

  #warn(task: Task, place: Place, { source }: Setup): void {
    if (source === null) {
      this.#warnOnce(
        'Tasks run in this process only, and their history is lost when it ends: there is no store. Call cron.setup({ store }) or set CRONCE_STORE.',
      )
    } else if (place.kind === 'own' && !task.options.name) {
      this.#warnOnce(
        `A task has no name, so every process runs it: ${task.describedName}. Name it, and each slot runs once in the fleet; or say distributed: false.`,
      )
    }
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    sharedLogger.warn(message)
  }
}

function isAmong(task: Task, members: TaskGroup['members']): boolean {
  return [...members.values()].some((member) => member.task === task)
}

function named(task: Task, name: string, start: Start): Member[] {
  try {
    return [{ id: readName('name', name), task, coordinator: null, start }]
  } catch (error) {
    task.failed(error as Error)
    return []
  }
}

function nameTaken(name: string): CronceError {
  return new CronceError('JOB_EXISTS', `Two tasks of this process are named ${JSON.stringify(name)}.`, {
    hint: 'Give the second one another name, or say distributed: false if it is for this process alone.',
  })
}

function quietly(task: Task, doing: string, work: () => void | Promise<void>): void {
  Promise.resolve(work()).catch((error: unknown) => {
    sharedLogger.error(`Error ${doing} task "${task.name}" during shutdown: ${(error as Error).message}`)
  })
}
