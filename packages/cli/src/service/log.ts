import type { Cronce, CronceEvent, Logger } from 'cronce'
import type { Args, Flags } from '../args.ts'
import type { Io } from '../io.ts'
import { redactSecrets } from '../redact.ts'
import { type Color, sanitize } from '../terminal.ts'
import { infoOf } from './event-words.ts'

export const LOG_FLAGS = {
  'log-format': {
    type: 'string',
    value: 'FORM',
    choices: ['text', 'json'],
    help: 'Format of the log: text (default), or json with one object per line',
  },
  json: { type: 'boolean', help: 'The same as --log-format json' },
  verbose: { type: 'boolean', help: 'Log every run that starts and succeeds, too' },
} as const satisfies Flags

export type Level = 'error' | 'warn' | 'info'

/** What a service tells: one line, on stderr, for each thing that matters. */
export interface Log {
  tell(level: Level, message: string, fields?: Readonly<Record<string, unknown>>): void
  /** For the library: failures, and what endangers fires. */
  readonly logger: Logger
  /** Log what happens on an instance. With `logger` in its app, each event is logged once. */
  follow(app: Cronce): void
}

const COLORS: Readonly<Record<Level, Color>> = { error: 'red', warn: 'yellow', info: 'cyan' }

export interface LogOptions {
  readonly isJson: boolean
  readonly isVerbose: boolean
  /** What must never be shown. */
  readonly secrets: readonly string[]
}

export function logOptions(args: Args, secrets: readonly string[]): LogOptions {
  const isJson = args.has('json') || args.text('log-format') === 'json'
  return { isJson, isVerbose: args.has('verbose'), secrets }
}

export function createLog({ isJson, isVerbose, secrets }: LogOptions, io: Io): Log {
  /** What the library has just said, until the event that it was about comes by: right after, if there is one. */
  let said: { readonly level: Level; readonly message: string } | null = null

  const write: Log['tell'] = (level, message, fields = {}) => {
    const safe = (text: string): string => redactSecrets(text, secrets)
    io.err(isJson ? jsonLine({ ...fields, level, message }, safe) : textLine(level, safe(message), io))
  }
  const flush = (): void => {
    if (said !== null) write(said.level, said.message)
    said = null
  }
  const hear = (level: Level) => (message: string) => {
    flush()
    said = { level, message }
    queueMicrotask(flush)
  }
  const onEvent = (event: CronceEvent): void => {
    const heard = said
    said = null
    const { type, ...data } = event
    if (heard !== null) {
      write(heard.level, heard.message, { event: type, ...data })
      return
    }
    const words = infoOf(event, isVerbose)
    if (words !== null) write('info', words, { event: type, ...data })
  }
  return {
    tell(level, message, fields) {
      flush()
      write(level, message, fields)
    },
    logger: { error: hear('error'), warn: hear('warn') },
    follow: (app) => void app.on('*', onEvent),
  }
}

/** Nothing that an event brings along is taken for the line's own, or says a secret: its errors are those of drivers, too. */
function jsonLine(fields: Readonly<Record<string, unknown>>, safe: (text: string) => string): string {
  const { level, message, ...others } = fields
  const own = { time: new Date().toISOString(), level, message }
  const line = { ...own, ...others, ...own }
  return `${JSON.stringify(line, (_, value: unknown) => (typeof value === 'string' ? safe(value) : value))}\n`
}

/** A person who watches does not need the day, and the zone is their own. */
function textLine(level: Level, message: string, { isErrTTY, paintErr }: Io): string {
  const now = new Date()
  const time = isErrTTY ? now.toTimeString().slice(0, 8) : now.toISOString()
  const [first = '', ...more] = message.split('\n').map(sanitize)
  const mark = level === 'info' ? '' : `${paintErr(COLORS[level], level === 'warn' ? 'warning' : level)}: `
  return [`${paintErr('dim', time)} ${mark}${first}`, ...more.map((line) => `  ${line}`), ''].join('\n')
}
