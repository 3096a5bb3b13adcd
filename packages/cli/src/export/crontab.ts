import { envForExec } from '../service/exec/command-env.ts'
import { execWords, unheard } from './exec-call.ts'
import type { ExportedJob, ExportFinding, Rendered } from './exported.ts'
import { fiveFields } from './five-fields.ts'
import { shellQuote } from './shell-words.ts'

/** By this the import knows whose variables they are. */
export const WRITTEN = '# Written by cronce export crontab.'

const headWith = (path: string): readonly string[] => [
  `${WRITTEN} The same lines on several machines: every fire is run by one of them.`,
  '# The store is named in a file, so that its password does not show here.',
  'CRONCE_STORE=@/etc/cronce/store',
  '# Where node and cronce are. Cron looks in /usr/bin and /bin only.',
  `PATH=${path}`,
]

/** Longer lines are cut, or refused, by crons. */
const LONGEST_COMMAND = 998

/** Lines for cron, each of which claims the fire before it runs anything. */
export function renderCrontab(jobs: readonly ExportedJob[], { path }: { readonly path: string }): Rendered {
  const findings: ExportFinding[] = []
  const lines: string[] = [...headWith(path)]
  let zone: string | null = null
  let count = 0
  for (const job of jobs) {
    const lost = (what: string, why: string, todo: string): void => {
      findings.push({ job: job.name, level: 'lost', what, why, todo })
      lines.push('', `# not translated: ${`${job.name}: ${what}: ${why}`.replace(/\p{Cc}/gu, ' ')}`)
    }
    if (job.target.kind === 'other') {
      lost(job.target.what, 'cron runs commands', 'run it with cronce start')
      continue
    }
    const due = fiveFields(job.trigger, 'vixie')
    if (!due.ok) {
      lost('its schedule', `cron has no way to say it: ${due.why}`, due.todo)
      continue
    }
    const unspeakable = Object.keys(job.target.env).find((name) => !/^[A-Za-z_]\w*$/.test(name))
    if (unspeakable !== undefined) {
      lost(`the variable ${unspeakable}`, 'a shell has no such names', 'rename it, or put it into a script')
      continue
    }
    const command = commandLine(job, due)
    if (command === null || command.length > LONGEST_COMMAND) {
      const why = command === null ? 'a line of cron can hold no line ends' : 'a line of cron has 998 characters'
      lost('its command', why, 'put it into a script')
      continue
    }
    findings.push(...unheard(job))
    if (job.policy.overlap.kind === 'replace') {
      const why = 'cron ends nothing, so the later one waits for the earlier'
      findings.push({
        job: job.name,
        level: 'changed',
        what: "overlap: 'replace'",
        why,
        todo: 'run it with cronce start',
      })
    }
    lines.push('')
    if (zone !== due.tz) {
      lines.push(`CRON_TZ=${due.tz}`)
      zone = due.tz
    }
    lines.push(`${due.expression} ${command}`)
    count++
  }
  return { text: `${lines.join('\n')}\n`, findings, count }
}

function commandLine(job: ExportedJob, due: { readonly ours: string; readonly tz: string }): string | null {
  const { target } = job
  if (target.kind === 'other') return null
  const { cwd, env, stdin } = target
  const assignments = Object.entries(envForExec(env)).map(([name, value]) => `${name}=${shellQuote(value)}`)
  const line = [
    ...(cwd === null ? [] : ['cd', shellQuote(cwd), '&&']),
    ...assignments,
    ...execWords(job, target, due).map(shellQuote),
  ].join(' ')
  if (line.includes('\n') || (stdin?.includes('\r') ?? false)) return null
  const input = stdin === null ? '' : `%${escapePercent(stdin.replace(/\n$/, '')).replaceAll('\n', '%')}`
  return escapeCommand(line) + input
}

/** To cron a bare % is the end of the command. */
function escapePercent(text: string): string {
  return text.replaceAll('%', '\\%')
}

/** A backslash that stands before it already would undo that. It is in quotes, which are closed and opened in between. */
function escapeCommand(line: string): string {
  return line.replace(/(\\?)%/g, (_, backslash: string) => (backslash === '' ? '\\%' : `\\''\\%`))
}
