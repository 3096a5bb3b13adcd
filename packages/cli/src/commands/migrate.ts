import type { MigrationStatus, Migrator, Roles } from 'cronce/postgres'
import type { Args } from '../args.ts'
import { formatUtc } from '../format.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS } from '../open-store.ts'
import { OUTPUT_VERSION } from '../output.ts'
import { postgresUrl } from '../store-url.ts'
import { sanitize } from '../terminal.ts'
import { suggestion, UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

const VERBS = ['status', 'plan', 'up', 'sql', 'adopt'] as const
type Verb = (typeof VERBS)[number]

export const migrate: Command = {
  operands: `<${VERBS.join('|')}>`,
  examples: [
    ['cronce migrate up', 'create or update the tables in the database of DATABASE_URL'],
    ['cronce migrate plan --store postgres://me@db/app', 'what up would do'],
    ['cronce migrate status --json', 'what is there; exit code 1 unless it is up to date'],
    ['cronce migrate sql > cronce.sql', 'the SQL, to be run with psql'],
    ['cronce migrate up --runtime app --viewer grafana', 'and let these roles use it'],
    ['cronce migrate adopt', 'this copy takes the place of its original'],
  ],
  about: [
    'The action up needs a role that may create tables; instances do not, and never create tables themselves. Run it before a',
    'deploy: the previous release keeps working on the new tables. Several at a time are safe.',
    'The action sql uses no database unless --store is given; then it prints what is missing there.',
  ].join('\n'),
  flags: {
    store: STORE_FLAGS.store,
    config: STORE_FLAGS.config,
    schema: { type: 'string', value: 'NAME', help: 'The schema of the tables (default cronce)' },
    runtime: {
      type: 'string',
      value: 'ROLE',
      help: 'With up, sql: let this role run instances, without the right to change tables',
    },
    yes: { type: 'boolean', short: 'y', help: 'For scripts: nothing is asked anyway' },
    viewer: { type: 'string', value: 'ROLE', help: 'With up, sql: let this role read the views, and nothing else' },
    json: { type: 'boolean', help: 'Print one JSON object and nothing else' },
  },
  run: runMigrate,
}

async function runMigrate(args: Args, io: Io): Promise<number> {
  const verb = readVerb(args.positionals)
  const roles: Roles = { runtime: args.text('runtime'), viewer: args.text('viewer') }
  if (verb !== 'up' && verb !== 'sql' && (args.has('runtime') || args.has('viewer'))) {
    throw new UsageError(
      'Roles are given their rights by up, or by what sql prints.',
      'Leave out --runtime and --viewer.',
    )
  }
  const { migrationText, migrator } = await import('cronce/postgres')
  if (verb === 'sql' && !args.has('store')) {
    printSql(migrationText(args.text('schema'), roles), args, io)
    return 0
  }
  const warn = (_code: string, message: string): void =>
    io.err(`${io.paintErr('yellow', 'warning:')} ${sanitize(message)}\n`)
  const store = migrator(await postgresUrl(args, io), { schema: args.text('schema'), warn })
  try {
    return await act(verb, store, roles, args, io)
  } finally {
    await store.close()
  }
}

function readVerb(positionals: readonly string[]): Verb {
  const [given, ...more] = positionals
  const verb = VERBS.find((known) => known === given)
  if (verb !== undefined && more.length === 0) return verb
  const choices = `Choose one of: ${VERBS.join(', ')}.`
  if (given === undefined) throw new UsageError('What about the migrations?', choices)
  if (verb === undefined)
    throw new UsageError(`"${given}" is nothing that migrate can do.${suggestion(given, VERBS)}`, choices)
  throw new UsageError(`cronce migrate ${verb} takes no "${more[0]}".`, 'See cronce migrate --help.')
}

async function act(verb: Verb, store: Migrator, roles: Roles, args: Args, io: Io): Promise<number> {
  const isJson = args.has('json')
  switch (verb) {
    case 'status': {
      const status = await store.status()
      io.out(isJson ? json(status) : statusText(store, status, io))
      return status.state === 'current' || status.state === 'newer' ? 0 : 1
    }
    case 'plan': {
      const status = await store.status()
      io.out(isJson ? json({ schema: status.schema, pending: status.pending }) : planText(store, status, io))
      return 0
    }
    case 'sql':
      printSql(await store.sql({ roles }), args, io)
      return 0
    case 'up': {
      const done: number[] = []
      const { schema, state } = await store.up({
        roles,
        onProgress: ({ number, name, by }) => {
          if (by === 'us') done.push(number)
          if (!isJson) io.out(`${by === 'us' ? 'applied' : 'found'}  ${number}  ${sanitize(name)}\n`)
        },
      })
      io.out(isJson ? json({ schema, state, applied: done }) : `The ${place(store)} is up to date.\n`)
      return 0
    }
    case 'adopt': {
      const epoch = await store.adopt()
      io.out(
        isJson
          ? json({ schema: store.schema, epoch })
          : `The ${place(store)} is a store of its own, in epoch ${epoch}.\n`,
      )
      return 0
    }
  }
}

const STATES: Readonly<Record<MigrationStatus['state'], string>> = {
  none: 'has no tables of cronce yet',
  behind: 'is behind this version',
  current: 'is up to date',
  newer: 'was migrated by a newer version, with which this one can work',
  'too-new': "was migrated by a newer version, with which this one can't work",
}

function statusText(store: Migrator, { state, applied, pending }: MigrationStatus, io: Io): string {
  const rows = [
    ...applied.map(({ number, name, appliedAt }) => ({ number, name, when: `applied ${formatUtc(appliedAt)}` })),
    ...pending.map(({ number, name }) => ({ number, name, when: 'to be applied' })),
  ]
  const width = Math.max(...rows.map(({ name }) => name.length))
  const lines = rows.map(
    ({ number, name, when }) => `  ${number}  ${sanitize(name).padEnd(width)}  ${io.paint('dim', when)}`,
  )
  return [`The ${place(store)} ${STATES[state]}.`, ...lines, ''].join('\n')
}

function planText(store: Migrator, { state, pending }: MigrationStatus, io: Io): string {
  if (pending.length === 0) return `Nothing to do: the ${place(store)} ${STATES[state]}.\n`
  const lines = pending.map(
    ({ number, name, breaking }) =>
      `  ${number}  ${name}${breaking && state !== 'none' ? `  ${io.paint('yellow', 'older versions stop working')}` : ''}`,
  )
  return [`In the ${place(store)}, cronce migrate up would apply:`, ...lines, ''].join('\n')
}

function place({ name, schema }: Migrator): string {
  return `schema "${sanitize(schema)}" of ${sanitize(name)}`
}

function printSql(sql: string, args: Args, io: Io): void {
  io.out(args.has('json') ? json({ sql }) : sql)
}

function json(value: object): string {
  return `${JSON.stringify({ version: OUTPUT_VERSION, ...value })}\n`
}
