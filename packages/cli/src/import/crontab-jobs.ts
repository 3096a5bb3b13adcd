import { WRITTEN } from '../export/crontab.ts'
import { commandNotes } from './command-notes.ts'
import { type CrontabLine, readCrontab } from './crontab-lines.ts'
import { readSchedule } from './crontab-schedule.ts'
import { CrontabSettings } from './crontab-settings.ts'
import { type Unwrapped, unwrapExecLine } from './exec-line.ts'
import { flockOf } from './flock.ts'
import type { Finding, Imported, ImportedItem, ImportedJob, JobRecord } from './imported.ts'
import { slugOfCommand, uniqueNames } from './job-names.ts'

export interface CrontabOptions {
  /** For messages. */
  readonly file: string
  /** What the server with this crontab is called, if there are several. */
  readonly server?: string
  /** Whether lines have a user before the command. */
  readonly isSystem: boolean
  /** The zone of lines that no CRON_TZ stands before. */
  readonly tz: string
  /** Where commands start if the crontab sets no HOME; `null`: it is not known. */
  readonly cwd: string | null
  /** Who `cronce start` will run as. */
  readonly user: string
  /** Overlap and catch-up as cron has them, rather than as jobs have by default. */
  readonly likeCron: boolean
}

type Entry = Extract<CrontabLine, { kind: 'entry' }>
type Loss = Pick<Finding, 'what' | 'why' | 'todo'>
type Report = (line: number, finding: Omit<Finding, 'place'>) => void

/** A crontab as jobs. Nothing of it is dropped: what does not translate becomes a comment and a finding. */
export function importCrontab(text: string, options: CrontabOptions): Imported {
  const { file, isSystem } = options
  const { lines, hasCarriageReturns, isUnfinished } = readCrontab(text, { isSystem })
  const findings: Finding[] = []
  const items: ImportedItem[] = []
  const settings = new CrontabSettings(options)
  const nameFor = uniqueNames()
  const report: Report = (line, finding) => findings.push({ place: { file, line }, ...finding })
  const isOurs = text.startsWith(WRITTEN)
  let comments: string[] = []
  const flush = (): void => {
    if (comments.length > 0) items.push({ kind: 'comment', lines: comments })
    comments = []
  }

  if (hasCarriageReturns) report(1, CARRIAGE_RETURNS)
  for (const line of lines) {
    switch (line.kind) {
      case 'blank':
        flush()
        break
      case 'comment':
        comments.push(line.text)
        break
      case 'variable':
        // What is said about a variable stays where it was; the variable itself goes into the jobs below it.
        flush()
        settings.set(line, report)
        break
      case 'broken':
        flush()
        items.push(untranslated(line, options))
        report(line.line, { level: 'lost', what: line.raw.trim(), why: line.why, todo: 'put the line right' })
        break
      case 'entry': {
        const job = readEntry(line, settings, { ...options, isOurs }, nameFor, report)
        if (job === null) {
          flush()
          items.push(untranslated(line, options))
        } else {
          if (!items.some(({ kind }) => kind === 'job')) report(line.line, ENVIRONMENT)
          items.push({ kind: 'job', job: { ...job, comments, place: { file, line: line.line } } })
          comments = []
        }
      }
    }
  }
  flush()
  if (isUnfinished) report(lines.length, UNFINISHED)
  return { items, findings }
}

const CARRIAGE_RETURNS: Omit<Finding, 'place'> = {
  level: 'changed',
  what: 'line ends of Windows',
  why: 'cron would hand the carriage returns to the commands; they are left out here',
  todo: 'nothing',
}

export const ENVIRONMENT: Omit<Finding, 'place'> = {
  level: 'changed',
  what: 'the environment',
  why: 'cron gives all commands a short PATH, and SHELL, HOME and LOGNAME of the user; now they have those of cronce start',
  todo: 'write what they rely on into env',
}

const UNFINISHED: Omit<Finding, 'place'> = {
  level: 'changed',
  what: 'no line end',
  why: 'many crons leave out a last line that does not end; it is taken like the others here',
  todo: 'look whether it is wanted',
}

function untranslated({ line, raw }: CrontabLine, { server }: CrontabOptions): ImportedItem {
  const where = server === undefined ? `line ${line}` : `${server}, line ${line}`
  return { kind: 'comment', lines: [`not translated (${where}): ${raw.trim()}`] }
}

type EntryOptions = CrontabOptions & {
  /** `cronce export` wrote the crontab. */
  readonly isOurs: boolean
}

function readEntry(
  entry: Entry,
  settings: CrontabSettings,
  options: EntryOptions,
  nameFor: (wanted: string) => string,
  report: Report,
): Pick<ImportedJob, 'name' | 'options' | 'isClaimed'> | null {
  const misread = misreadEntry(entry, options)
  if (misread !== null) {
    report(entry.line, { level: 'lost', ...misread })
    return null
  }
  const wrapped = unwrapExecLine(entry.command)
  // Asked for before the name is taken, since a line that does not translate has none.
  const wanted = wrapped?.name ?? slugOfCommand(entry.command)
  const answer = readSchedule(entry.schedule, settings.tz, wanted)
  if (!answer.ok) {
    report(entry.line, { level: 'lost', what: answer.what, why: answer.why, todo: answer.todo })
    return null
  }
  const name = nameFor(wanted)
  if (answer.changed !== undefined) report(entry.line, { level: 'changed', ...answer.changed })
  if (entry.isUnlogged) {
    report(entry.line, {
      level: 'changed',
      what: 'a - in front',
      why: 'it keeps a line out of the log of the system; runs are always on record here',
      todo: 'nothing',
    })
  }
  const { likeCron } = options
  const hasFolder = settings.cwd !== null || wrapped !== null
  for (const note of commandNotes(entry.command, { hasFolder, likeCron })) {
    report(entry.line, { level: 'changed', ...note })
  }
  const policies = policiesOf(entry, settings, likeCron)
  if (wrapped !== null) {
    const own = unwrapped(entry, wrapped, settings, options)
    return { name, isClaimed: true, options: { ...answer.options, ...policies, ...own } }
  }
  return { name, options: { ...answer.options, ...readCommand(entry, settings, options, report), ...policies } }
}

/** A line that cron would read otherwise than its author meant it. `null`: it looks right. */
function misreadEntry({ schedule, command }: Entry, { isSystem }: CrontabOptions): Loss | null {
  const [firstWord = ''] = command.split(/\s/)
  if (!schedule.startsWith('@') && /^(\*|\*\/\d+|\d+)$/.test(firstWord)) {
    return {
      what: `${schedule} ${firstWord}`,
      why: 'these are six fields; to cron, the sixth is the command',
      todo: 'take out the field of the seconds, or of the year',
    }
  }
  if (!isSystem && firstWord === 'root' && command !== 'root') {
    return { what: firstWord, why: 'it looks like the user of a system crontab', todo: 'import with --system' }
  }
  return null
}

function policiesOf({ command }: Entry, settings: CrontabSettings, likeCron: boolean): JobRecord {
  const lock = flockOf(command)
  return {
    ...(lock === 'waits' ? { overlap: 'queue' } : {}),
    ...(likeCron ? { overlap: 'allow', misfire: 'skip' } : {}),
    ...(lock === 'gives-up' ? { overlap: 'skip' } : {}),
    ...settings.policies,
  }
}

/** The options of a command that the line runs by `cronce exec`. */
function unwrapped(entry: Entry, wrapped: Unwrapped, settings: CrontabSettings, { isOurs }: EntryOptions): JobRecord {
  // These settings were for cronce exec. The user gives them to cronce start in another way.
  const forExec = isOurs ? /^(CRONCE_(STORE|NAMESPACE)|PATH)$/ : /^CRONCE_(STORE|NAMESPACE)$/
  const inherited = Object.entries(settings.env).filter(([variable]) => !forExec.test(variable))
  const env = { ...Object.fromEntries(inherited), ...wrapped.options.env }
  return {
    ...wrapped.options,
    ...(entry.stdin === null ? {} : { stdin: { text: entry.stdin } }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  }
}

function readCommand(entry: Entry, settings: CrontabSettings, options: CrontabOptions, report: Report): JobRecord {
  const { shell, cwd, env } = settings
  const { command, stdin, user } = entry
  const where = {
    ...(stdin === null ? {} : { stdin: { text: stdin } }),
    ...(cwd === null ? {} : { cwd }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  }
  if (user === null || user === options.user) return { command, shell, ...where }
  report(entry.line, {
    level: 'changed',
    what: `user ${user}`,
    why: 'a command has the user of cronce start, so it goes through su, which only root may use without a password',
    todo: `import with --user ${user} and run cronce start as ${user}, or run it as root`,
  })
  // FreeBSD writes user:group/class.
  return { command: ['su', '-s', shell, '-c', command, user.replace(/[:/].*$/, '')], ...where }
}
