import { parseArgs } from 'node:util'
import { shellWords } from '../export/shell-words.ts'
import { envOfCommand } from '../service/exec/command-env.ts'
import type { JobRecord } from './imported.ts'

/** A command that `cronce export` wrapped in `cronce exec`, taken out of it again. */
export interface Unwrapped {
  readonly name: string
  readonly options: Pick<JobRecord, 'command' | 'shell' | 'cwd' | 'env' | 'timeout' | 'retry' | 'guarantee' | 'overlap'>
}

/** Of a line for a shell: `cd DIR && CRONCE_ENV_NAME=value cronce exec … -- command`. `null`: it is something else. */
export function unwrapExecLine(line: string): Unwrapped | null {
  const [, folder, rest = line] = /^cd ('[^']*'|\S+) && (.*)$/s.exec(line) ?? []
  const words = shellWords(rest)
  if (words === null) return null
  const env: Record<string, string> = {}
  let at = 0
  for (; at < words.length && /^[A-Za-z_]\w*=/.test(words[at]!); at++) {
    const [name = ''] = words[at]!.split('=', 1)
    env[name] = words[at]!.slice(name.length + 1)
  }
  const unwrapped = unwrapExecWords(words.slice(at))
  if (unwrapped === null) return null
  const cwd = folder === undefined ? undefined : shellWords(folder)?.[0]
  return {
    name: unwrapped.name,
    options: {
      ...unwrapped.options,
      ...(cwd === undefined ? {} : { cwd }),
      ...(Object.keys(env).length === 0 ? {} : { env: envOfCommand(env) }),
    },
  }
}

const FLAGS = [
  'name',
  'due',
  'cron',
  'expect',
  'tz',
  'tolerance',
  'timeout',
  'grace',
  'guarantee',
  'overlap',
  'retry',
] as const

/** Of a list of words: `cronce exec --name NAME … -- command …`. */
export function unwrapExecWords(words: readonly string[]): Unwrapped | null {
  const [program = '', verb, ...rest] = words
  const end = rest.indexOf('--')
  if (!/(^|\/)cronce$/.test(program) || verb !== 'exec' || end < 0) return null
  const { values } = parseArgs({
    args: rest.slice(0, end),
    options: Object.fromEntries(FLAGS.map((flag) => [flag, { type: 'string' as const }])),
    strict: false,
  })
  const said = (flag: (typeof FLAGS)[number]): string | undefined => {
    const value = values[flag]
    return typeof value === 'string' ? value : undefined
  }
  const name = said('name')
  const command = rest.slice(end + 1)
  if (name === undefined || command.length === 0) return null
  const guarantee = said('guarantee')
  const overlap = said('overlap')
  const retry = said('retry')
  return {
    name,
    options: {
      ...commandOf(command),
      ...timeoutOf(said('timeout'), said('grace')),
      ...(guarantee === undefined ? {} : { guarantee }),
      ...(overlap === undefined ? {} : { overlap }),
      ...(retry === undefined || !/^\d+$/.test(retry) ? {} : { retry: Number(retry) }),
    },
  }
}

function timeoutOf(run: string | undefined, grace: string | undefined): Pick<JobRecord, 'timeout'> {
  if (grace !== undefined) return { timeout: { ...(run === undefined ? {} : { run }), grace } }
  return run === undefined ? {} : { timeout: run }
}

/** What a shell is given to run is a text, as people write it. */
export function commandOf(words: readonly string[]): Pick<JobRecord, 'command' | 'shell'> {
  const [shell = '', flag, text] = words
  const isOfShell = words.length === 3 && flag === '-c' && /^\/(\S*\/)?(ba|da|k|z|a)?sh$/.test(shell)
  return isOfShell ? { command: text!, shell } : { command: words }
}
