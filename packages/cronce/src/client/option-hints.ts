import { asCode, inUnit, NAME_LIMIT, plain } from './as-code.ts'
import { APP_ROWS, COMMAND_ROWS, type Hint, JOB_ROWS, NESTED_ROWS, type Row } from './foreign-names.ts'

const tables = new Map<readonly Row[], ReadonlyMap<string, Hint>>()

function find(rows: readonly Row[], name: string): Hint | undefined {
  let table = tables.get(rows)
  if (table === undefined) {
    table = new Map(rows.flatMap(([names, hint]) => names.split(' ').map((each) => [each, hint] as const)))
    tables.set(rows, table)
  }
  return table.get(name)
}

/** The options that stand in `cronce({ … })`. */
const APP_OPTIONS =
  'store namespace app deployment labels lease claimahead drain holddown retireafter signals keepalive logger adopt'.split(
    ' ',
  )
/** The options that stand in `app.job(name, { … })`. */
const JOB_OPTIONS =
  'cron every at dst dialect days seed input overlap misfire retry timeout jitter pauseafter retention group guarantee unknownstep schema was on hosts file command http'.split(
    ' ',
  )

/** Options that need another one. */
const TARGETS = [
  { options: ['isolate', 'memorymb'], sample: "file: file: './task.js'" },
  { options: ['shell', 'cwd', 'env', 'stdin', 'successcodes'], sample: "command: command: ['pg_dump', 'app']" },
]

/** What to write instead of an option that is not known here, if it is known elsewhere. */
export function nameHint(path: string, name: string, value: unknown, names: readonly string[]): string | undefined {
  if (name.length > NAME_LIMIT) return undefined
  const word = plain(name)
  const spelled = names.find((known) => plain(known) === word)
  if (spelled !== undefined) return `Did you mean ${spelled}?`
  if (path !== '') return nestedHint(path, name, word, value)
  const isApp = names.includes('store')
  const isJob = names.includes('cron')
  if (!isApp && !isJob) return commandHint(word, value, names)
  const written = find(isApp ? APP_ROWS : JOB_ROWS, word) ?? suffixHint(word, names)
  if (written !== undefined) return written(value)
  if (isApp && JOB_OPTIONS.includes(word)) {
    return `The option ${name} belongs to a job: app.job(name, { ${name}: ${asCode(value)} }, handler).`
  }
  return isJob ? elsewhereHint(name, word) : undefined
}

function elsewhereHint(name: string, word: string): string | undefined {
  const target = TARGETS.find(({ options }) => options.includes(word))
  if (target !== undefined) return `The option ${name} is for a job with a ${target.sample}, instead of a handler.`
  return APP_OPTIONS.includes(word) ? `The option ${name} belongs to the app: cronce({ ${name}: … }).` : undefined
}

function commandHint(word: string, value: unknown, names: readonly string[]): string | undefined {
  const row = COMMAND_ROWS.find(([option, words]) => names.includes(option) && words.split(' ').includes(word))
  return row === undefined ? undefined : `Write ${row[0]}: ${asCode(value)}.`
}

function nestedHint(path: string, name: string, word: string, value: unknown): string | undefined {
  const rows = NESTED_ROWS[path]
  const written = rows === undefined ? undefined : find(rows, word)
  if (written !== undefined) return written(value)
  if (![...JOB_OPTIONS, 'tz', 'start', 'end', 'limit', 'concurrency'].includes(word)) return undefined
  const [outer] = path.split('.')
  return `The option ${name} stands beside ${outer}, not in it: { ${outer}: …, ${name}: ${asCode(value)} }.`
}

const UNIT_SUFFIX = /^(.+?)(?:in)?(ms|msec|millis|milliseconds|secs?|seconds|mins?|minutes|hours|days)$/
const DURATIONS = ['every', 'timeout', 'jitter', 'retention', 'lease', 'drain', 'holddown', 'retireafter', 'claimahead']

/** `timeoutSeconds: 30` is `timeout: '30s'`. */
function suffixHint(word: string, names: readonly string[]): Hint | undefined {
  const [, stem, suffix] = UNIT_SUFFIX.exec(word) ?? []
  const option = names.find((known) => plain(known) === stem)
  if (stem === undefined || suffix === undefined || option === undefined || !DURATIONS.includes(stem)) return undefined
  const unit = suffix.startsWith('ms') || suffix.startsWith('milli') ? 'ms' : suffix.charAt(0)
  return (value) => `Write ${option}: ${inUnit(value, unit as 'ms')}.`
}
