import { readdirSync, readFileSync } from 'node:fs'

/** The name of the mark in the environment of everything that a command has started. */
export const MARK = 'CRONCE_SUPERVISED'

/** A command and all that came of it. */
export interface Tree {
  /** The command's own process, which is the leader of a group and a session; `null`: not known, or no more of these. */
  leader: number | null
  /** Whether it has ended. */
  isLeaderGone: boolean
  readonly mark: string
}

interface Listed {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
}

/**
 * Whom to signal to reach all of it, as `process.kill` takes them: the group as a whole, so that nobody is born in between,
 * and one by one whoever has left it. Those are found on Linux only: by session, by parent, and by the mark.
 */
export function findTree(tree: Tree): { readonly targets: readonly number[]; readonly count: number } {
  const group = tree.leader === null ? null : groupOf(tree.leader)
  if (process.platform !== 'linux') {
    return group !== null && signalOne(group, 0) ? { targets: [group], count: 1 } : { targets: [], count: 0 }
  }
  const members = membersOf(tree, listProcesses())
  // As long as anybody is in the group or the session nobody else gets its number. Afterwards a stranger may.
  const isNumberFree = members.every((one) => one.group !== tree.leader && one.session !== tree.leader)
  if (tree.isLeaderGone && isNumberFree) tree.leader = null
  const apart = members.filter((one) => one.group !== tree.leader).map(({ pid }) => pid)
  const targets = group === null || apart.length === members.length ? apart : [group, ...apart]
  return { targets, count: members.length }
}

/** As `process.kill` takes it. Windows knows no groups. */
export function groupOf(leader: number): number {
  return process.platform === 'win32' ? leader : -leader
}

/** How many were there. */
export function signalTree(tree: Tree, signal: NodeJS.Signals): number {
  const { targets, count } = findTree(tree)
  for (const target of targets) signalOne(target, signal)
  return count
}

/** Whether somebody on this machine has this in its environment. Nobody has, where the system does not tell. */
export function isInEnvironment(entry: string): boolean {
  if (process.platform !== 'linux') return false
  return listProcesses().some(({ pid }) => pid !== process.pid && hasEntry(pid, entry))
}

/** To a process, or by a negative number to a group. Whoever is gone by then needs none. */
export function signalOne(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal)
  } catch {
    return false
  }
}

function membersOf({ leader, mark }: Tree, processes: readonly Listed[]): Listed[] {
  const children = Map.groupBy(processes, ({ parent }) => parent)
  const entry = `${MARK}=${mark}`
  const found = processes.filter(
    ({ pid, group, session }) => group === leader || session === leader || hasEntry(pid, entry),
  )
  const members = new Map(found.map((one) => [one.pid, one]))
  // A map goes on to what is added while it is walked through: children, their children, and so on.
  for (const { pid } of members.values()) {
    for (const child of children.get(pid) ?? []) members.set(child.pid, child)
  }
  members.delete(process.pid)
  return [...members.values()]
}

/** Of all processes that have not ended; a zombie is nobody. */
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
  const environment = readOf(String(pid), 'environ')
  const at = environment.indexOf(`${entry}\0`)
  return at === 0 || (at > 0 && environment[at - 1] === 0)
}

/** Nothing, if it has ended meanwhile or is somebody else's. */
function readOf(pid: string, what: 'stat' | 'environ'): Buffer {
  try {
    return readFileSync(`/proc/${pid}/${what}`)
  } catch {
    return Buffer.alloc(0)
  }
}
