import type { Fact } from '../../facts/fact.ts'
import { isAside } from '../paths.ts'
import type { Reader } from '../reader.ts'
import { shellWords } from '../words.ts'
import { crontabAppends } from './crontab-appends.ts'
import { shellLines } from './lines.ts'

const SCRIPT =
  /\.(?:sh|bash|zsh|ksh|command)(?:\.(?:j2|tmpl|erb))?$|(?:^|\/)(?:Makefile|GNUmakefile)$|\.mk$|(?:^|\/)(?:\.github\/workflows\/[^/]+|\.gitlab-ci)\.ya?ml$/
/** Scripts without an extension begin with the name of their shell. */
const NO_EXTENSION = /(?:^|\/)[\w-]+$/
const MAX_TEXT = 500_000

export const shellReader: Reader = {
  name: 'shell',
  reads: (path) => (SCRIPT.test(path) || NO_EXTENSION.test(path)) && !isAside(path),
  mayHoldFacts: (text) => /\bcrontab\b|\/etc\/cron|spool\/cron|\bcelery\b/.test(text),
  read: ({ path, text }) => {
    if (!SCRIPT.test(path) && !/^#!.*\b(?:ba|da|z|k|a)?sh\b/.test(text)) return []
    if (text.length > MAX_TEXT)
      throw new Error(`The script has ${text.length} characters; at most ${MAX_TEXT} are read.`)
    const lines = shellLines(text)
    const commands = lines.flatMap(({ line, text: command }): readonly Fact[] =>
      /\bcelery\b/.test(command) && !/^(?:echo|printf|log|info|#)/.test(command)
        ? [{ kind: 'command', place: { path, line }, words: shellWords(command) }]
        : [],
    )
    return [...commands, ...crontabAppends(path, lines)]
  },
}
