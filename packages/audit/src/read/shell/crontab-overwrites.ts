import type { CrontabOverwrite } from '../../facts/crontab-install.ts'
import { type ShellLine, unquoted } from './lines.ts'

const REPLACE = /^(?:sudo\s+)?(?:echo|printf)\b[^|;&]*\|\s*(?:sudo\s+)?crontab(?:\s+-u\s*\S+)?\s+-\s*(?:$|[;&#>])/
/** The crontab of a container is new at each start. */
const CONTAINER =
  /(?:^|\/)(?:docker|\.docker|images?|container)[^/]*\/|entrypoint|docker|start|boot|^init\b|(?:^|\/)init\.sh$/i

/** `echo "$JOB" | crontab -` in a script that looks at the crontab nowhere. */
export function crontabOverwrites(path: string, lines: readonly ShellLine[]): readonly CrontabOverwrite[] {
  if (CONTAINER.test(path) || lines.some(({ text }) => /\bcrontab\s+(?:-u\s*\S+\s+)?-l\b/.test(text))) return []
  return lines
    .filter(({ text }) => REPLACE.test(unquoted(text)))
    .map(({ line }) => ({ kind: 'crontab-overwrite', place: { path, line } }))
}
