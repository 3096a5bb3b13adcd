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
    name: 'list',
    group: 'see',
    summary: 'What is scheduled, when it is due next, and how it went',
    load: async () => (await import('./list.ts')).list,
  },
  {
    name: 'describe',
    group: 'see',
    summary: 'All about one schedule',
    load: async () => (await import('./describe.ts')).describe,
  },
  {
    name: 'runs',
    group: 'see',
    summary: 'What was run, the latest first',
    load: async () => (await import('./runs.ts')).runs,
  },
  {
    name: 'show',
    group: 'see',
    summary: 'One fire: its tries, steps, error and log',
    load: async () => (await import('./show.ts')).show,
  },
  {
    name: 'logs',
    group: 'see',
    summary: 'What a run said, also as it says it',
    load: async () => (await import('./logs.ts')).logs,
  },
  {
    name: 'tail',
    group: 'see',
    summary: 'What the fleet does, as it happens',
    load: async () => (await import('./tail.ts')).tail,
  },
  {
    name: 'instances',
    group: 'see',
    summary: 'Which processes run jobs',
    load: async () => (await import('./instances.ts')).instances,
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
    name: 'import',
    group: 'offline',
    summary: 'Turn a crontab, or CronJobs of Kubernetes, into jobs',
    load: async () => (await import('./import.ts')).importCommand,
  },
  {
    name: 'version',
    group: 'offline',
    summary: 'The version, with --json also those of what it stands on',
    load: async () => (await import('./version.ts')).version,
  },
]
