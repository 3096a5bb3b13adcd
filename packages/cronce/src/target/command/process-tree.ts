import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** The name of the mark in the environment of everything that a command has started. */
export const MARK = 'CRONCE_SUPERVISED'

interface Listed {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
}

/** A command and all that came of it. */
export class ProcessTree {
  readonly #entry: string
  /** The command's own process, which is the leader of a group and a session; `null`: the number may be a stranger's. */
  #leader: number | null
  /** Whether the leader's pid is still ours: this process watches it, or another process of the tree has kept it. */
  #isOurs: boolean
  #isLeaderGone = false

  /** `isWatched`: the leader is a child of this process, which hears of its end. Else it may have ended at any time. */
  constructor(leader: number | null, mark: string, { isWatched }: { readonly isWatched: boolean }) {
    this.#leader = leader
    this.#entry = `${MARK}=${mark}`
    this.#isOurs = isWatched
    this.#isLeaderGone = !isWatched
  }

  /** Call it when the child has ended: from then on its pid is ours only while its group has a process. */
  leaderEnded(): void {
    this.#isLeaderGone = true
  }

  /** How many there are now. */
  count(): number {
    return this.#look().count
  }

  /** How many were there. */
  signal(signal: NodeJS.Signals): number {
    const { targets, count } = this.#look()
    for (const target of targets) signalOne(target, signal)
    return count
  }

  signalGroup(signal: NodeJS.Signals): void {
    if (this.#leader !== null) signalOne(groupOf(this.#leader), signal)
  }

  /**
   * Whom to signal to reach all of it, as `process.kill` takes them: the group as a whole, so that no new process escapes,
   * and one by one the processes that have left it. Those are found on Linux only: by session, by parent, and by the mark.
   */
  #look(): { readonly targets: readonly number[]; readonly count: number } {
    if (process.platform !== 'linux') {
      const group = this.#leader === null ? null : groupOf(this.#leader)
      return group !== null && signalOne(group, 0) ? { targets: [group], count: 1 } : { targets: [], count: 0 }
    }
    const processes = listProcesses()
    this.#demandOurs(processes)
    const members = this.#membersOf(processes)
    const leader = this.#leader
    const apart = members.filter((one) => one.group !== leader).map(({ pid }) => pid)
    const targets = leader === null || apart.length === members.length ? apart : [groupOf(leader), ...apart]
    return { targets, count: members.length }
  }

  /** While a process is in the group or the session, the system does not reuse its number. Afterwards it may. */
  #demandOurs(processes: readonly Listed[]): void {
    const inGroup = processes.filter((one) => this.#isInGroup(one))
    this.#isOurs ||= inGroup.some(({ pid }) => hasEntry(pid, this.#entry))
    if (!this.#isOurs || (this.#isLeaderGone && inGroup.length === 0)) this.#leader = null
  }

  #isInGroup({ group, session }: Listed): boolean {
    return group === this.#leader || session === this.#leader
  }

  #membersOf(processes: readonly Listed[]): Listed[] {
    const children = Map.groupBy(processes, ({ parent }) => parent)
    const found = processes.filter((one) => this.#isInGroup(one) || hasEntry(one.pid, this.#entry))
    const members = new Map(found.map((one) => [one.pid, one]))
    // A map goes on to what is added while it is walked through: children, their children, and so on.
    for (const { pid } of members.values()) {
      for (const child of children.get(pid) ?? []) members.set(child.pid, child)
    }
    members.delete(process.pid)
    return [...members.values()]
  }
}

/** As `process.kill` takes it. Windows knows no groups. */
function groupOf(leader: number): number {
  return process.platform === 'win32' ? leader : -leader
}

/** A unique mark that says which scheduler runs the command. */
export function newMark(): string {
  return `${process.pid}-${randomUUID()}`
}

/** Whose end is waited for, by an entry of their environment. */
export interface Earlier {
  /** Processes that have this mark. */
  readonly after: string | null
  /** Processes that have this mark and whose scheduler is dead. */
  readonly afterOrphans: string | null
}

/** Whether one of these is on this machine. False where the system does not say. */
export function isAnyThere({ after, afterOrphans }: Earlier): boolean {
  if (process.platform !== 'linux' || (after === null && afterOrphans === null)) return false
  const processes = listProcesses()
  const alive = new Set(processes.map(({ pid }) => pid))
  return processes.some(({ pid }) => {
    if (pid === process.pid) return false
    const environment = readOf(String(pid), 'environ')
    if (after !== null && contains(environment, after)) return true
    return afterOrphans !== null && contains(environment, afterOrphans) && !alive.has(schedulerIn(environment))
  })
}

/** By the mark; of what has none, this process, which is alive. */
function schedulerIn(environment: Buffer): number {
  const found = new RegExp(`(?:^|\\0)${MARK}=(\\d+)-`).exec(environment.toString('latin1'))
  return found === null ? process.pid : Number(found[1])
}

/** To a process, or by a negative number to a group. A process that is gone by then is ignored. */
function signalOne(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal)
  } catch {
    return false
  }
}

/** Of all processes that have not ended; zombies do not count. */
function listProcesses(): Listed[] {
  const listed: Listed[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readOf(name, 'stat').toString('latin1')
    // The name in parentheses may contain anything, parentheses too.
    const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === undefined || state === '' || state === 'Z' || state === 'X') continue
    listed.push({ pid: Number(name), parent: Number(parent), group: Number(group), session: Number(session) })
  }
  return listed
}

function hasEntry(pid: number, entry: string): boolean {
  return contains(readOf(String(pid), 'environ'), entry)
}

function contains(environment: Buffer, entry: string): boolean {
  const at = environment.indexOf(`${entry}\0`)
  return at === 0 || (at > 0 && environment[at - 1] === 0)
}

/** Nothing, if it has ended meanwhile or belongs to another user. */
function readOf(pid: string, what: 'stat' | 'environ'): Buffer {
  try {
    return readFileSync(`/proc/${pid}/${what}`)
  } catch {
    return Buffer.alloc(0)
  }
}
