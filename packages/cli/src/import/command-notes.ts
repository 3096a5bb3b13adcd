import type { Finding } from './imported.ts'

type Note = Pick<Finding, 'what' | 'why' | 'todo'>

const ABSOLUTE_START = /^\s*cd\s+["']?[/~$]/
const RELATIVE_PATH = /(^|[\s;&|(<>="'])(\.{1,2}\/|[\w.-]+\/)[\w./*-]*/
const RELATIVE_TARGET = />>?[ \t]*["']?(?![&/~$>\s"'])[\w.-]/

/** What is worth saying about a command that cron ran, and that something else will run now. */
export function commandNotes(command: string, { hasFolder }: { hasFolder: boolean }): Note[] {
  const notes: Note[] = []
  if (/(^|[\s;&|(])(\S*\/)?flock\b/.test(command)) {
    notes.push({
      what: 'flock',
      why: "overlap: 'skip' does the same, for the whole fleet rather than for one machine",
      todo: 'take flock out, unless something else uses the lock, too',
    })
  }
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

function isRelative(command: string): boolean {
  const withoutUrls = command.replace(/\w+:\/\/\S+/g, ' ')
  const [first = ''] = withoutUrls.trim().split(/\s+/)
  if (/^\.{0,2}[\w.-]*\//.test(first) && !first.startsWith('/')) return true
  return RELATIVE_TARGET.test(withoutUrls) || (RELATIVE_PATH.exec(withoutUrls)?.[2]?.startsWith('.') ?? false)
}
