import type { Fact } from '../../facts/fact.ts'
import { isAside } from '../paths.ts'
import type { Reader } from '../reader.ts'
import { shellWords } from '../words.ts'
import { crontabAppends } from './crontab-appends.ts'
import { crontabOverwrites } from './crontab-overwrites.ts'
import { type ShellLine, shellLines } from './lines.ts'

const SCRIPT =
  /\.(?:sh|bash|zsh|ksh|command)(?:\.(?:j2|tmpl|erb))?$|(?:^|\/)(?:Makefile|GNUmakefile)$|\.mk$|(?:^|\/)(?:\.github\/workflows\/[^/]+|\.gitlab-ci)\.ya?ml$/
/** Scripts without an extension begin with the name of their shell. */
const NO_EXTENSION = /(?:^|\/)[\w-]+$/
const MAX_TEXT = 500_000

export const shellReader: Reader = {
  name: 'shell',
  reads: (path) => (SCRIPT.test(path) || NO_EXTENSION.test(path)) && !isAside(path),
  mayHoldFacts: (text) =>
    /\bcrontab\b|\/etc\/cron|spool\/cron|\bcelery\b|\b(?:gunicorn|uvicorn|hypercorn)\s/.test(text),
  read: ({ path, text }) => {
    if (!SCRIPT.test(path) && !/^#!.*\b(?:ba|da|z|k|a)?sh\b/.test(text)) return []
    if (text.length > MAX_TEXT)
      throw new Error(`The script has ${text.length} characters; at most ${MAX_TEXT} are read.`)
    const lines = shellLines(text)
    const commands = lines.filter(
      ({ text: command }) => STARTS.test(command) && !/^(?:echo|printf|log|info)\b/.test(command),
    )
    return [
      ...commands.flatMap((line) => commandFacts(path, line)),
      ...crontabAppends(path, lines),
      ...crontabOverwrites(path, lines),
    ]
  },
}

const SERVERS = /^(?:exec\s+)?(?:\S*\/)?(?:gunicorn|uvicorn|hypercorn)\s/
const STARTS = /\bcelery\b|\b(?:gunicorn|uvicorn|hypercorn)\s/

function commandFacts(path: string, { line, text }: ShellLine): readonly Fact[] {
  const place = { path, line }
  const words = shellWords(text)
  const command: Fact = { kind: 'command', place, words }
  if (!SERVERS.test(text)) return [command]
  const unit: Fact = {
    kind: 'unit',
    place,
    format: 'shell',
    name: path,
    instances: 'unstated',
    evidence: text.slice(0, 120),
    command: words,
    entries: [],
    folder: '',
    image: null,
    build: null,
    startsBeforeStop: null,
  }
  return [command, unit]
}
