import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { findStore, withoutSecrets } from '../open-store.ts'
import { redactSecrets } from '../redact.ts'
import { execFire } from '../service/exec/exec-fire.ts'
import { EXEC_FLAGS, readPlan } from '../service/exec/exec-plan.ts'
import { sanitize } from '../terminal.ts'
import type { Command } from './command.ts'

export const exec: Command = {
  operands: '-- COMMAND [ARGS…]',
  examples: [
    [
      'cronce exec --name backup --cron "0 3 * * *" -- pg_dump -f app.sql app',
      'in the crontab of every host: one of them runs it',
    ],
    ['cronce exec --name backup --due 2027-03-28T03:00Z -- ./backup.sh', 'for a scheduler that says what is due'],
    ['cronce exec --name backup --cron "0 3 * * *" --wait -- ./backup.sh', 'the other hosts stand by, and take over'],
  ],
  about: [
    'Ends with the exit code of the command: 128 + n if a signal ended it, 124 after --timeout, 127 if there is no such',
    'program. If another host runs or ran it: says so, and ends with 0. If the store is not reachable, ends with 5 without running it.',
    'SIGTERM and SIGINT are passed on, SIGHUP as SIGTERM; what SIGTERM ends is run again by another host. --cron is read in the',
    'zone of this machine, as cron reads it, unless CRON_TZ or --tz say otherwise. In a CronJob of Kubernetes, set CRONCE_K8S_JOB',
    "to the Job's name, which says what is due.",
  ].join('\n'),
  flags: EXEC_FLAGS,
  run: runExec,
}

async function runExec(args: Args, io: Io): Promise<number> {
  const plan = readPlan(args, io.env)
  const { store, namespace, secrets } = await findStore(args, io)
  const tell = (text: string): void => io.err(`cronce: ${sanitize(redactSecrets(text, secrets))}\n`)
  return withoutSecrets(secrets, () =>
    execFire({
      plan,
      store,
      namespace,
      env: io.env,
      signal: io.signal,
      say: args.has('quiet') ? () => {} : tell,
      complain: tell,
      warn: args.has('verbose') ? tell : () => {},
    }),
  )
}
