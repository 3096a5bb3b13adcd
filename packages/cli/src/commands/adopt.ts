import { CronceError } from 'cronce/cron'
import type { Args } from '../args.ts'
import { authorOf, confirm, LOG, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { findStore, openSetting, type StoreSetting, storeWords, withoutSecrets } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { note, printJson } from '../output.ts'
import { steerFlags } from '../steer/flags.ts'
import { say, whyWords } from '../steer/say.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const adopt: Command = {
  operands: '',
  examples: [
    ['cronce adopt --store sqlite:restored.db', 'this copy takes the place of its original, which is gone'],
    ['cronce adopt --dry-run', 'is it a copy at all?'],
  ],
  about: [
    'A store that was copied or restored refuses to work (STORE_COPIED), since its original may be running the same jobs: both would bill',
    'every customer. Adopt it only if the original is gone for good. Fencing tokens continue above all earlier ones, and runs after the copy was',
    'made are not on its record: their fires may run again. For SQLite, etcd and PostgreSQL (there also: cronce migrate adopt --schema).',
    'Redis does not tell a copy from a failover, so there is nothing to adopt: delete its keys before you start anything on a copy.',
  ].join('\n'),
  flags: steerFlags(LOG),
  run: runAdopt,
}

async function runAdopt(args: Args, io: Io): Promise<number> {
  atMost(args, 0, 'adopt')
  const setting = await findStore(args, io)
  const name = storeWords(setting.store)
  refuseKind(setting)
  const trouble = await openAsItIs(setting, io)
  if (trouble === null) {
    if (args.has('json')) printJson({ adopted: false, ...(args.has('dry-run') ? { dryRun: true } : {}) }, io)
    else note(`There is nothing to adopt: ${name} is not a copy, or was adopted.`, io)
    return EXIT.ok
  }
  const plan = {
    lines: [
      trouble.message,
      `${name} takes the place of its original, which must be gone for good: if it still runs, every job runs twice.`,
      'What ran after the copy was made is not on its record, and may be run again. Instances of before count as dead.',
    ],
    dangerous: true,
    typed: 'adopt',
    json: { adopt: name },
  }
  if (!(await confirm(plan, args, io))) return EXIT.ok
  const client = await openSetting(setting, io, { adopt: true })
  try {
    const { epoch } = await withoutSecrets(setting.secrets, () => client.store.check())
    await client.activity.add('adopt', { ...operatorOf(args, io), changed: { epoch } })
    if (args.has('json')) printJson({ adopted: true, epoch, ...authorOf(args, io) }, io)
    else say(`${name} is a store of its own now, in epoch ${epoch}.${whyWords(authorOf(args, io))}`, io)
    return EXIT.ok
  } finally {
    await client.close()
  }
}

function refuseKind({ store }: StoreSetting): void {
  if (typeof store !== 'string') return
  if (/^(rediss?(-cluster)?|redis\+unix):/.test(store)) {
    throw new CronceError(
      'STORE_CANNOT_ADOPT',
      'On Redis a copy looks like a failover, so it is not refused, and cannot be adopted.',
      {
        hint: 'If this is a copy whose original still runs, delete its keys before you start anything on it, or use another namespace.',
      },
    )
  }
  if (store.startsWith('memory:')) {
    throw new UsageError("A store in memory can't be a copy.", 'Name the store with --store.')
  }
}

/** `null`: it opens, so there is nothing to adopt. Otherwise why it does not open, if it is a copy. */
async function openAsItIs(setting: StoreSetting, io: Io): Promise<CronceError | null> {
  try {
    const client = await openSetting(setting, io)
    await client.close()
    return null
  } catch (error) {
    if (error instanceof CronceError && error.code === 'STORE_COPIED') return error
    throw error
  }
}
