import type { Fact } from '../facts/fact.ts'
import type { Reader } from './reader.ts'
import { commandWords } from './words.ts'

interface Instruction {
  readonly name: string
  readonly rest: string
  readonly line: number
}

const MAX_LINES = 20_000

export const dockerfileReader: Reader = {
  name: 'Dockerfile',
  reads: (path) =>
    /(?:^|\/)(?:[\w.-]*\.)?(?:Dockerfile|Containerfile)(?:[.-][\w.-]+)?$/i.test(path) &&
    !/\.(?:md|dockerignore)$/i.test(path),
  mayHoldFacts: (text) => /^\s*FROM\s/im.test(text),
  read: ({ path, text }) => {
    const instructions = instructionsOf(text)
    // Only the last stage is the image.
    const stage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM') + 1)
    const entrypoint = stage.findLast(({ name }) => name === 'ENTRYPOINT')
    const cmd = stage.findLast(({ name }) => name === 'CMD')
    const started = [entrypoint, cmd].filter((instruction) => instruction !== undefined)
    const [first] = started
    if (first === undefined) return []
    const command = commandWords(started.flatMap(({ rest }) => partsOf(rest)))
    const place = { path, line: first.line }
    const facts: Fact[] = [
      ...installedTwice(path, stage),
      { kind: 'command', place, words: command },
      { kind: 'start-command', place, text: first.rest, isShellForm: !first.rest.startsWith('[') },
      {
        kind: 'unit',
        place,
        format: 'dockerfile',
        name: path,
        instances: 'unstated',
        evidence: command.join(' ').slice(0, 120),
        command,
        entries: [],
        folder: path.slice(0, Math.max(0, path.lastIndexOf('/'))),
        image: null,
        build: null,
        startsBeforeStop: null,
      },
    ]
    return facts
  },
}

function instructionsOf(text: string): readonly Instruction[] {
  const found: Instruction[] = []
  const lines = text.split('\n', MAX_LINES)
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1
    let written = lines[at]!.trim()
    if (written === '' || written.startsWith('#')) continue
    while (/[\\`]$/.test(written) && at + 1 < lines.length && written.length < 20_000) {
      at++
      const next = lines[at]!.trim()
      written = `${written.slice(0, -1)} ${next.startsWith('#') ? '\\' : next}`
    }
    const match = /^([A-Za-z]+)\s+([\s\S]*)$/.exec(written)
    if (match !== null) found.push({ name: match[1]!.toUpperCase(), rest: match[2]!.trim(), line })
  }
  return found
}

/** The exec form is a list; the shell form is one text. */
function partsOf(rest: string): readonly string[] {
  if (!rest.startsWith('[')) return [rest]
  try {
    const parts: unknown = JSON.parse(rest)
    return Array.isArray(parts) ? parts.filter((part) => typeof part === 'string') : [rest]
  } catch {
    return [rest]
  }
}

/** `COPY jobs /etc/cron.d/jobs`, then `RUN crontab /etc/cron.d/jobs`. */
function installedTwice(path: string, stage: readonly Instruction[]): readonly Fact[] {
  return stage.flatMap(({ name, rest, line }): readonly Fact[] => {
    const file = name === 'RUN' ? /\bcrontab\s+(?:-u\s*\S+\s+)?(\/etc\/cron\.d\/[\w.-]+)/.exec(rest)?.[1] : undefined
    return file === undefined ? [] : [{ kind: 'crontab-installed-twice', place: { path, line }, file }]
  })
}
