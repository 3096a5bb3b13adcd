import type { Entry } from './command.ts'

/** All commands, in the order of the help: how people meet them. */
export const COMMANDS: readonly Entry[] = [
  {
    name: 'dev',
    group: 'run',
    summary: 'Run the jobs of a file here, anew whenever it changes',
    load: async () => (await import('./dev.ts')).dev,
  },
  {
    name: 'start',
    group: 'run',
    summary: 'Run the jobs of a file, beside any number of others',
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'migrate',
    group: 'operate',
    summary: 'Make or update the tables of a PostgreSQL store',
    load: async () => (await import('./migrate.ts')).migrate,
  },
  {
    name: 'next',
    group: 'offline',
    summary: 'When an expression fires next',
    load: async () => (await import('./next.ts')).next,
  },
  {
    name: 'explain',
    group: 'offline',
    summary: 'What an expression means, how often it fires, and what clock changes do to it',
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'version',
    group: 'offline',
    summary: 'The version, with --json also those of what it stands on',
    load: async () => (await import('./version.ts')).version,
  },
]
