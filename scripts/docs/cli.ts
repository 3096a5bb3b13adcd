/**
 * docs/cli.md, from the table of commands: what the help says, for those who read rather than ask. `node scripts/docs/cli.ts` writes it;
 * the check of the docs compares.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Flags } from '../../packages/cli/src/args.ts'
import { type Command, type Entry, GROUPS } from '../../packages/cli/src/commands/command.ts'
import { COMMON_FLAGS } from '../../packages/cli/src/commands/help.ts'
import { COMMANDS } from '../../packages/cli/src/commands/index.ts'

export const CLI_DOC = 'docs/cli.md'

const HEAD = `# The command line

\`npm install @cronce/cli\` brings the command \`cronce\`. This page is made from its table of commands; \`cronce <command> --help\` says the same.

## What all commands have in common

| | |
| --- | --- |
| store | \`--store URL\`, or \`--store env:NAME\`, or \`--store @FILE\`; else \`CRONCE_STORE\`, else the configuration, else \`DATABASE_URL\`, else the \`cronce.db\` that \`dev\` or \`start\` made in the current folder, which stderr says. Never in production (\`NODE_ENV\`), and never for \`exec\`, \`migrate\` and \`adopt\`. \`--namespace\` or \`CRONCE_NAMESPACE\` |
| configuration | \`cronce.config.{ts,mts,js,mjs,json}\`, the nearest one from here upwards, or \`--config FILE\`: \`{ store, namespace, app, deployment, concurrency, lease, drain, jobs, listen, … }\`. Flags beat the environment, that beats the configuration |
| output | data goes to stdout, everything else to stderr. \`-o table\\|wide\\|json\\|jsonl\\|name\`; \`--json\` is one object (\`logs\` and \`tail\` have \`--jsonl\` instead; \`dev\`, \`exec\` and \`completion\` print no data), \`{ "version": 1, … }\`, whose shape changes with that number only. Instants in it are epoch milliseconds where their names end in \`At\`, durations where they end in \`Ms\` |
| errors | one sentence and a hint; with \`--json\` an object on stderr, \`{ "error": { "code", "message", "hint" } }\`. The codes are in [api.md](api.md#errors) |
| times | \`now-2h\`, \`-2h\`, \`+30m\`, \`today\`, \`tomorrow 09:00\`, \`2027-03-28\`, \`2027-03-28T01:30\` (read in \`--tz\`), with \`Z\` or an offset, epoch milliseconds. Printed with their zone |
| changes | \`--dry-run\` says what would change; what is dangerous wants a yes, and off a terminal \`--yes\`. Each takes \`--note\` and \`--author\`, and says in its help where that is kept, if it is |
| secrets | passwords in URLs are never printed |
| colours | on a terminal only; \`NO_COLOR\`, \`FORCE_COLOR\`, \`--no-color\` |

| exit code | |
| --- | --- |
| 0 | it is done |
| 1 | it failed, or what was asked about is not well |
| 2 | the command makes no sense |
| 3 | there is no such thing |
| 4 | refused: a precondition does not hold, or it was not confirmed |
| 5 | the store can't be reached, or does not answer |
| 20 | \`run --wait\`: the run failed |
| 130 | interrupted |

\`exec\` ends with the code of its command.

## Codes

What only the command line says; the others are in [api.md](api.md#errors), those of expressions in [cron.md](cron.md#errors).

| code | what happened | what to do |
| --- | --- | --- |
| \`USAGE\` | flags or operands make no sense | the message says which, the hint what to write |
| \`CONFIG_INVALID\`, \`CONFIG_NOT_FOUND\` | the configuration can't be read, has an option that there is not, or is not where it was said to be | the message names the file and the place |
| \`CONFIRMATION_NEEDED\` | a dangerous command was not confirmed | look at it with \`--dry-run\`, then add \`--yes\` |
| \`JOBS_INVALID\`, \`JOBS_NOT_FOUND\` | the file with the jobs is not there, or exports nothing that could be jobs | export a function, a record of jobs, or an app |
| \`JOBS_FAILED\` | the file with the jobs threw, or its syntax is wrong | its own words stand above the message |
| \`LISTEN_UNPROTECTED\` | the HTTP API would listen to others than this machine without anything that says who may use it | set \`access\`, or listen on 127.0.0.1 |
| \`FILE_NOT_FOUND\`, \`FILE_UNREADABLE\`, \`FILE_UNWRITABLE\`, \`FILE_EXISTS\` | a file to read or to write is not there, or is there already | the message names it |
| \`STORE_CANNOT_ADOPT\` | this kind of store has nothing that could be adopted | nothing |
| \`WAIT_TIMEOUT\` | \`run --wait\` gave up waiting; the run goes on | \`cronce show\`, \`cronce logs -f\` |
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
      `| command | |\n| --- | --- |\n${entries.map(({ name, summary }) => `| [\`${name}\`](#${anchor(name)}) | ${summary} |`).join('\n')}\n`,
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

/** Without those that every command has. */
function flagTable(flags: Flags): string[] {
  const own = Object.entries(flags).filter(([name]) => !Object.hasOwn(COMMON_FLAGS, name))
  if (own.length === 0) return []
  const rows = own.map(([name, { short, value, help, repeat }]) => {
    const head = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
    return `| \`${head}\` | ${cell(help)}${repeat ? '; may be given several times' : ''} |`
  })
  return ['| flag | |', '| --- | --- |', ...rows, '']
}

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
