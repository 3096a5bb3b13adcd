import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Every living process with its parent. A zombie does not count: it only waits for its parent. */
export function livingProcesses(): ReadonlyMap<number, number> {
  const rows = existsSync('/proc/self/stat') ? readProc() : readPs()
  return new Map(rows.filter((row) => !/^[ZX]/.test(row.state)).map((row) => [row.pid, row.parent]))
}

/** The children of a process, their children, and so on. */
export function descendantsOf(ancestor: number): readonly number[] {
  const parents = livingProcesses()
  const family = [ancestor]
  // Grows during the walk. A process has one parent, so none is added twice and the walk ends.
  for (const member of family) {
    for (const [pid, parent] of parents) if (parent === member && pid !== member) family.push(pid)
  }
  return family.slice(1)
}

interface Row {
  readonly pid: number
  readonly parent: number
  readonly state: string
}

function readProc(): readonly Row[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The name in parentheses may hold spaces and parentheses itself; the fields start after the last one.
      const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [{ pid: Number(pid), parent: Number(parent), state }]
    } catch {
      return [] // Ended between the listing and the reading.
    }
  })
}

function readPs(): readonly Row[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n')
  return lines.map((line) => {
    const [pid, parent, state = ''] = line.trim().split(/\s+/)
    return { pid: Number(pid), parent: Number(parent), state }
  })
}
