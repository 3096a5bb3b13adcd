import type { CrontabLine } from './crontab-lines.ts'
import type { Finding, JobRecord } from './imported.ts'

type Variable = Extract<CrontabLine, { kind: 'variable' }>
type Report = (line: number, finding: Omit<Finding, 'place'>) => void

/** For cron itself, and not for the commands. */
const FOR_CRON = /^(SHELL|CRON_TZ|MAILTO|MAILFROM|CONTENT_TYPE|CONTENT_TRANSFER_ENCODING|RANDOM_DELAY)$/

/** The variables of a crontab as they stand at a line: each holds for the lines below it. */
export class CrontabSettings {
  readonly #machineTz: string
  tz: string
  shell = '/bin/sh'
  cwd: string | null
  policies: JobRecord = {}
  env: Readonly<Record<string, string>> = {}

  constructor({ tz, cwd }: { readonly tz: string; readonly cwd: string | null }) {
    this.#machineTz = tz
    this.tz = tz
    this.cwd = cwd
  }

  set(variable: Variable, report: Report): void {
    const { line, name, value } = variable
    if (!FOR_CRON.test(name)) {
      this.env = { ...this.env, [name]: value }
      if (name === 'HOME' && value !== '') this.cwd = value
      for (const finding of notesOn(variable)) report(line, finding)
      return
    }
    switch (name) {
      case 'SHELL':
        this.shell = value || '/bin/sh'
        break
      case 'CRON_TZ':
        this.tz = this.#zoneOf(value)
        break
      case 'MAILTO':
        if (value !== '') report(line, { ...NO_MAIL, what: `MAILTO=${value}` })
        break
      case 'RANDOM_DELAY':
        this.#delay(variable, report)
        break
      default:
        report(line, { ...NO_MAIL, what: `${name}=${value}` })
    }
  }

  /** As TZ may be written, too: with a colon in front, and by its file. */
  #zoneOf(value: string): string {
    const bare = value.replace(/^:/, '')
    return bare === '/etc/localtime' ? this.#machineTz : bare.replace(/^\/.*\/zoneinfo\//, '') || 'UTC'
  }

  /** Cronie's: each start is delayed by up to this many minutes. */
  #delay({ line, name, value }: Variable, report: Report): void {
    if (!/^\d{1,4}$/.test(value)) {
      const what = `${name}=${value}`
      report(line, {
        level: 'changed',
        what,
        why: 'it is not a number of minutes',
        todo: 'put it right, or leave it out',
      })
      return
    }
    this.policies = Number(value) === 0 ? {} : { jitter: { within: `${Number(value)}m`, kind: 'random' } }
  }
}

const NO_MAIL = {
  level: 'changed',
  why: 'nothing is mailed; what a command prints is kept with its run',
  todo: 'look at cronce runs --failed and at what cronce logs prints, or set up alerts (https://github.com/cronce/cronce/blob/main/docs/alerts.md)',
} as const

function notesOn({ name, value }: Variable): Omit<Finding, 'place'>[] {
  if (name === 'TZ') {
    return [
      {
        level: 'changed',
        what: `TZ=${value}`,
        why: 'it is for the commands; when they run is decided by CRON_TZ, or the zone of the machine',
        todo: 'write CRON_TZ or use --tz if it was meant to move the schedule',
      },
    ]
  }
  if (!/\$\w|\$\{/.test(value)) return []
  return [
    {
      level: 'changed',
      what: `${name}=${value}`,
      why: 'cron inserts no variables here, so the commands are given the $ as it stands',
      todo: 'write the value itself',
    },
  ]
}
