import { flockOf } from './flock.ts'
import type { Finding } from './imported.ts'

type Note = Pick<Finding, 'what' | 'why' | 'todo'>

const ABSOLUTE_START = /^\s*cd\s+["']?[/~$]/
const RELATIVE_PATH = /(^|[\s;&|(<>="'])(\.{1,2}\/|[\w.-]+\/)[\w./*-]*/
const RELATIVE_TARGET = />>?[ \t]*["']?(?![&/~$>\s"'])[\w.-]/

/** What is worth saying about a command that cron ran, and that something else will run now. */
export function commandNotes(
  command: string,
  { hasFolder, likeCron }: { readonly hasFolder: boolean; readonly likeCron: boolean },
): Note[] {
  const notes: Note[] = []
  const lock = flockOf(command)
  if (lock !== null) notes.push({ what: 'flock', ...lockNote(lock, likeCron) })
  if (/&?>>?[ \t]*\/dev\/null/.test(command)) {
    notes.push({
      what: '> /dev/null',
      why: 'the output of a command is kept with its run, where cron would have mailed it',
      todo: 'take the redirection out to see what happened',
    })
  }
  if (!hasFolder && !ABSOLUTE_START.test(command) && isRelative(command)) {
    notes.push({
      what: 'a relative path',
      why: 'cron starts commands in the home directory, cronce start in its own',
      todo: 'import with --cwd DIR, or write the whole path',
    })
  }
  if (/(^|[^\\])\\$/.test(command)) {
    notes.push({
      what: '\\ at the end',
      why: 'crontabs have no continued lines, so the command ends here',
      todo: 'put it on one line',
    })
  }
  return notes
}

function lockNote(lock: NonNullable<ReturnType<typeof flockOf>>, likeCron: boolean): Omit<Note, 'what'> {
  const todo = 'take flock out, unless something else uses the lock, too'
  if (lock === 'gives-up') {
    return { why: "overlap: 'skip' does the same, for the whole fleet rather than for one machine", todo }
  }
  if (lock === 'shares' || likeCron) {
    const why = 'it locks on one machine only: on others the command may run at the same time'
    return { why, todo: "write overlap: 'queue' or 'skip' if it must not" }
  }
  const why =
    "overlap: 'queue' waits likewise, for the whole fleet; but one waits, and what is due meanwhile is skipped"
  return { why, todo: `${todo}; write 'queue-all' if all must run` }
}

function isRelative(command: string): boolean {
  const withoutUrls = command.replace(/\w+:\/\/\S+/g, ' ')
  const [first = ''] = withoutUrls.trim().split(/\s+/)
  if (/^\.{0,2}[\w.-]*\//.test(first) && !first.startsWith('/')) return true
  return RELATIVE_TARGET.test(withoutUrls) || (RELATIVE_PATH.exec(withoutUrls)?.[2]?.startsWith('.') ?? false)
}
