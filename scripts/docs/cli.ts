/**
 * docs/cli.md, generated from the table of commands. `node scripts/docs/cli.ts` writes it; the check of the docs compares.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Flags } from '../../packages/cli/src/args.ts'
import { type Command, type Entry, GROUPS } from '../../packages/cli/src/commands/command.ts'
import { COMMON_FLAGS } from '../../packages/cli/src/commands/help.ts'
import { COMMANDS } from '../../packages/cli/src/commands/index.ts'

export const CLI_DOC = 'docs/cli.md'

const HEAD = `# The command line

The command \`cronce\` runs jobs, shows what happened, and changes schedules. Install it with \`npm install @cronce/cli\`:

\`\`\`sh
cronce dev jobs.ts                # run the jobs of a file on this machine
cronce list                       # when each schedule is due next, and how its latest fires ended
cronce runs --failed              # the runs that failed
cronce pause billing --note "…"   # stop a schedule until cronce resume billing
\`\`\`

A *fire* is one due time of a schedule. A *run* is one attempt to execute a fire, by one instance. This page is generated from the commands;
\`cronce <command> --help\` prints the same text.

## Rules for all commands

| subject | rule |
| --- | --- |
| store | \`--store URL\`, \`--store env:NAME\` or \`--store @FILE\`; otherwise \`CRONCE_STORE\`, then the configuration, then \`DATABASE_URL\`, then \`cronce.db\` in the current folder (stderr says so; never in production, that is \`NODE_ENV\`, and never for \`exec\`, \`migrate\` and \`adopt\`). \`--namespace\` or \`CRONCE_NAMESPACE\` selects the namespace |
| configuration | \`cronce.config.{ts,mts,js,mjs,json}\` in the current folder or the nearest one above it, or \`--config FILE\`: \`{ store, namespace, app, deployment, concurrency, lease, drain, jobs, listen, … }\`. Flags override the environment, and the environment overrides the configuration |
| output | Data goes to stdout, everything else to stderr. \`-o table\\|wide\\|json\\|jsonl\\|name\` chooses the format. \`--json\` prints one object, \`{ "version": 1, … }\`, whose shape changes only with that number (\`logs\` and \`tail\` have \`--jsonl\` instead; \`dev\`, \`exec\` and \`completion\` print no data). In JSON, fields that end in \`At\` are epoch milliseconds, and fields that end in \`Ms\` are durations |
| errors | One sentence and a hint. With \`--json\`, an object on stderr: \`{ "error": { "code", "message", "hint" } }\`. The codes are in [api.md](api.md#errors) |
| times | Accepted: \`now-2h\`, \`-2h\`, \`+30m\`, \`2h ago\`, \`in 30m\`, \`today\`, \`tomorrow 09:00\`, \`2027-03-28\`, \`2027-03-28T01:30\` (in the zone of \`--tz\`), with \`Z\` or an offset, epoch milliseconds. Printed with their zone; distances and durations as \`in 3h\`, \`2m ago\`, \`1h30m\` |
| changes | \`--dry-run\` prints what would change. A dangerous change asks for confirmation; without a terminal it needs \`--yes\`. All take \`--note\` and \`--author\`; the help says where these are stored |
| secrets | Passwords in URLs are never printed |
| colors | Only on a terminal; \`NO_COLOR\`, \`FORCE_COLOR\`, \`--no-color\` |

| exit code | meaning |
| --- | --- |
| 0 | success |
| 1 | the command failed, or a check found a problem |
| 2 | wrong usage: flags or operands are invalid |
| 3 | not found |
| 4 | refused: a precondition does not hold, or the change was not confirmed |
| 5 | the store can't be reached, or does not answer |
| 20 | \`run --wait\`: the run failed |
| 130 | interrupted |

\`exec\` ends with the exit code of its command.

## Codes

Error codes that only the command line uses. The others are in [api.md](api.md#errors), those of expressions in [cron.md](cron.md#errors).

| code | what happened | what to do |
| --- | --- | --- |
| \`USAGE\` | flags or operands are invalid | the message says which, the hint what to write |
| \`CONFIG_INVALID\`, \`CONFIG_NOT_FOUND\` | the configuration can't be read, has an unknown option, or does not exist | the message names the file and the place |
| \`CONFIRMATION_NEEDED\` | a dangerous command was not confirmed | run it with \`--dry-run\`, then add \`--yes\` |
| \`JOBS_INVALID\`, \`JOBS_NOT_FOUND\` | the file with the jobs does not exist, or exports no jobs | export a function, a record of jobs, or an app |
| \`JOBS_FAILED\` | the file with the jobs threw an error, or has a syntax error | its own error is printed above the message |
| \`LISTEN_UNPROTECTED\` | the HTTP API would be reachable from other machines without access control | set \`access\`, or listen on 127.0.0.1 |
| \`FILE_NOT_FOUND\`, \`FILE_UNREADABLE\`, \`FILE_UNWRITABLE\`, \`FILE_EXISTS\` | a file can't be read or written, or exists already | the message names it |
| \`STORE_CANNOT_ADOPT\` | this kind of store can't be adopted | nothing |
| \`WAIT_TIMEOUT\` | \`run --wait\` stopped waiting; the run continues | \`cronce show\`, \`cronce logs -f\` |
`

/** The whole page. */
export async function renderCliDoc(): Promise<string> {
  const visible = COMMANDS.filter(({ hidden }) => !hidden)
  const parts = [HEAD]
  for (const [group, title] of Object.entries(GROUPS)) {
    const entries = visible.filter((entry) => entry.group === group)
    if (entries.length === 0) continue
    parts.push(`## ${title}\n`)
    parts.push(
      `| command | what it does |\n| --- | --- |\n${entries.map(({ name, summary }) => `| [\`${name}\`](#${anchor(name)}) | ${summary} |`).join('\n')}\n`,
    )
    for (const entry of entries) parts.push(section(entry, await entry.load()))
  }
  return parts.join('\n')
}

function anchor(name: string): string {
  return `cronce-${name}`
}

function section({ name, summary, aliases = [] }: Entry, { operands, examples, about, flags }: Command): string {
  const usage = ['cronce', name, operands, '[flags]'].filter(Boolean).join(' ')
  const also = aliases.length === 0 ? '' : ` The same as ${aliases.map((alias) => `\`cronce ${alias}\``).join(', ')}.`
  const width = Math.max(...examples.map(([example]) => example.length))
  return [
    `### cronce ${name}\n`,
    `${summary}.${also}\n`,
    '```sh',
    `# ${usage}`,
    ...examples.map(([example, does]) => `${example.padEnd(width)}  # ${does}`),
    '```\n',
    ...(about === undefined ? [] : [`${about.replaceAll('<', '\\<')}\n`]),
    ...flagTable({ ...flags }),
  ].join('\n')
}

/** What the placeholder of a flag stands for. */
const TYPES: Readonly<Record<string, string>> = {
  N: 'whole number',
  JSON: 'JSON',
  URL: 'URL',
  FILE: 'path',
  TIME: 'time',
}
const DURATIONS = /^(?:drain|every|grace|lease|timeout|tolerance)$/

/** Without the flags that every command has. The help shows the default in brackets; here it has a column. */
function flagTable(flags: Flags): string[] {
  const own = Object.entries(flags).filter(([name]) => !Object.hasOwn(COMMON_FLAGS, name))
  if (own.length === 0) return []
  const rows = own.map(([name, { short, type, value, help, repeat, choices }]) => {
    const head = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
    const kind = choices !== undefined ? 'choice' : DURATIONS.test(name) ? 'duration' : (TYPES[value ?? ''] ?? 'text')
    const [, otherwise = type === 'boolean' ? 'off' : 'none'] = DEFAULT.exec(help) ?? CHOSEN.exec(help) ?? []
    const words = help.replace(DEFAULT, '')
    const often = repeat ? '; may be given several times' : ''
    return `| \`${head}\` | ${type === 'boolean' ? 'switch' : kind} | ${cell(otherwise)} | ${cell(words)}${often} |`
  })
  return ['| flag | type | default | meaning |', '| --- | --- | --- | --- |', ...rows, '']
}

const DEFAULT = / \(default:? ([^()]+)\)/
/** `skip (default), queue`. */
const CHOSEN = /([\w-]+) \((?:none, the )?default\)/

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('*', '\\*')
}

if (import.meta.main) {
  const file = resolve(import.meta.dirname, '../..', CLI_DOC)
  const made = await renderCliDoc()
  const before = (() => {
    try {
      return readFileSync(file, 'utf8')
    } catch {
      return ''
    }
  })()
  if (made !== before) writeFileSync(file, made)
  console.log(made === before ? `${CLI_DOC} is fresh` : `${CLI_DOC} was written`)
}
