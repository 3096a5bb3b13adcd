import type { Fact } from '../facts/fact.ts'
import type { Place } from '../facts/place.ts'
import { NO_GUARD, type Schedule, type Zone } from '../facts/schedule.ts'

export interface CrontabEntry {
  readonly place: Place
  readonly expression: string
  readonly command: string
  readonly isLocked: boolean
}

const MACROS = /^@(?:reboot|yearly|annually|monthly|weekly|daily|midnight|hourly)$/
const FIELD = /^[\d*][\d*,/~-]*$|^[a-z*]{1,3}(?:[-,/][a-z\d]{1,3})*$|^\*\/\d+$|^h(?:\/\d+)?$/i

/** Splits `*\/5 * * * * command`; `null` if the line is none of a crontab. */
export function splitLine(line: string): { readonly expression: string; readonly command: string } | null {
  const macro = /^(@\w+)\s+(\S.*)$/.exec(line)
  if (macro !== null) return MACROS.test(macro[1]!) ? { expression: macro[1]!, command: macro[2]! } : null
  const match = /^-?((?:\S+\s+){4}\S+)\s+(\S.*)$/.exec(line)
  if (match === null) return null
  const fields = match[1]!.split(/\s+/)
  const isTime = fields.every((field) => FIELD.test(field)) && fields.slice(0, 2).every((field) => /^[\d*]/.test(field))
  return isTime ? { expression: fields.join(' '), command: match[2]! } : null
}

/** Tools that keep a second run away, and commands that look for the first one themselves. */
const LOCKS =
  /(?:^|[\s/;&|(])(?:flock|setlock|lockrun|run-one|run-this-one|solo|chronic-lock|with-lock-ex|lockfile|dotlockfile|lckdo|cronlock|cronsafe|consul\s+lock|etcdctl\s+lock|singleton|cronwrap|timeout)\s|\bpgrep\b|\bpidof\b|\.lock\b|\.pid\b|--(?:no-overlap|lock|exclusive|single-instance|without-overlapping)\b|\bps\s+\S*\s*\|\s*grep\b/
/** Dispatchers start what is due and keep runs apart themselves; the others end at once. */
const DISPATCHERS =
  /\bartisan\s+schedule:run\b|\bsystemctl\s+(?:--\S+\s+)*(?:start|restart|reload)\b|\bmagento\s+cron:run\b|\bwp-cron\.php\b|\bwp\s+cron\b|\brun-parts\b|\bmunin-cron\b|\bdebian-sa1\b|\/sa1\b|\bcron\.php\b|\bschedule:run\b|\bphp\s+\S*yii\s+schedule\b|\bdrush\b.*\bcron\b/
const HARMLESS = /^(?:\/(?:usr\/)?bin\/)?(?:echo|date|true|touch|printf|sync|:)\b[^;&|]*$/

export function isLockedCommand(command: string): boolean {
  const bare = command.replace(/^[a-z_][\w-]*\s+(?=(?:\/bin\/|\/usr\/bin\/)?(?:echo|date|touch)\b)/, '')
  return LOCKS.test(command) || DISPATCHERS.test(command) || HARMLESS.test(bare)
}

/** Whether the text of a script takes a lock before it works. */
export function takesLock(script: string): boolean {
  return /^[^#\n]*(?:\bflock\b|\blockfile\b|\bset -o noclobber\b|\bmkdir\s+\S*lock|\bpgrep\b|\bfcntl\.(?:flock|lockf)\b|\bFileLock\b|^\s*@\w*lock\w*)/m.test(
    script,
  )
}

/** The shortest time between two fires within an hour, in minutes; `null` if it is an hour or not known. */
export function shortestGap(expression: string): number | null {
  const fields = expression.split(' ')
  if (fields.length !== 5) return null
  const minutes = new Set<number>()
  for (const part of fields[0]!.split(',')) {
    const match = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part)
    if (match === null) return null
    const [, from, to, step] = match
    const first = Number(from ?? 0)
    const last = from === undefined ? 59 : Number(to ?? (step === undefined ? from : 59))
    for (let minute = first; minute <= Math.min(last, 59); minute += Math.max(1, Number(step ?? 1))) minutes.add(minute)
  }
  const sorted = [...minutes].sort((a, b) => a - b)
  if (sorted.length < 2) return null
  const gaps = sorted.map((minute, index) => (index === 0 ? minute + 60 - sorted.at(-1)! : minute - sorted[index - 1]!))
  return Math.min(...gaps)
}

/** A line of a crontab as a schedule, and as what rules about crontabs ask for. */
export function crontabFacts(entry: CrontabEntry, zone: Zone, source: 'crontab' | 'django-crontab'): readonly Fact[] {
  const { place, expression, command, isLocked } = entry
  const schedule: Schedule = {
    kind: 'schedule',
    place,
    source,
    runner: 'host',
    name: null,
    when: expression === '@reboot' ? { kind: 'once' } : { kind: 'cron', expression, dialect: 'vixie' },
    zone,
    zoneGroup: place.path,
    guard: NO_GUARD,
    handler: { isAsync: null, effect: 'unknown', dropped: null, text: command.slice(0, 120) },
    overlap: isLocked ? 'prevented' : 'unknown',
    isDynamic: false,
  }
  return [{ kind: 'crontab-line', place, expression, command, minutes: shortestGap(expression), isLocked }, schedule]
}
