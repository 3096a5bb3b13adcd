/** What the docs must cover, taken from the sources. */

/** Codes of the cron engine: docs/cron.md describes expressions, and the types list the codes. */
const CRON = 'packages/cronce/src/trigger/'
const SUITE = 'packages/cronce/src/testing/conformance/'

/** Codes of errors and of warnings that people get. A code is the only text in capitals with an underscore. */
export function codesInSource(source: ReadonlyMap<string, string>): Set<string> {
  const codes = new Set<string>()
  for (const [file, text] of source) {
    if (file.startsWith(CRON) || file.startsWith(SUITE)) continue
    for (const [, code] of text.matchAll(/'([A-Z]+(?:_[A-Z]+)+|CONTENTION)'/g)) codes.add(code!)
  }
  // What others call their own, what is only asked of the cron engine, and variables.
  const others = ['SEED_MISSING', 'ERR_MODULE_NOT_FOUND', 'ERR_INVALID_URL', 'CRONCE_SUPERVISED', 'NODE_CRON_RUN']
  for (const other of others) codes.delete(other)
  return codes
}

/** Codes of errors that the command line makes itself. */
export function cliCodesInSource(source: Iterable<string>): Set<string> {
  const texts = [...source]
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/\bCronceError\(\s*'([A-Z_]+)'/g)].map((match) => match[1]!)),
  )
}

export function eventsInSource(source: ReadonlyMap<string, string>): Set<string> {
  const text = source.get('packages/cronce/src/model/event.ts') ?? ''
  return new Set([...text.matchAll(/'([a-z]+\.[a-zA-Z]+)'/g)].map((match) => match[1]!))
}

const OPTION_TYPES: Readonly<Record<string, readonly string[]>> = {
  'packages/cronce/src/app/options.ts': ['CronceOptions'],
  'packages/cronce/src/client/schedule-options.ts': [
    'PolicyOptions',
    'CronOnlyOptions',
    'CronTriggerOptions',
    'EveryTriggerOptions',
    'AtTriggerOptions',
    'WindowOptions',
  ],
  'packages/cronce/src/app/job.ts': ['JobOnlyOptions'],
  'packages/cronce/src/app/lifecycle.ts': ['StartOptions'],
  'packages/cronce/src/store/sqlite/sqlite.ts': ['SqliteOptions'],
  'packages/cronce/src/store/postgres/postgres.ts': ['PostgresOptions'],
  'packages/cronce/src/store/redis/redis.ts': ['RedisOptions'],
  'packages/cronce/src/store/etcd/etcd.ts': ['EtcdOptions'],
  'packages/cronce/src/store/zookeeper/zookeeper.ts': ['ZooKeeperOptions'],
  'packages/cronce/src/run/run.ts': ['Run', 'Previous'],
  'packages/cronce/src/testing/test-kit.ts': [],
}

/** Names of the options that users write, and of what a run offers. */
export function optionsInSource(source: ReadonlyMap<string, string>): Set<string> {
  const names = new Set<string>()
  for (const [file, types] of Object.entries(OPTION_TYPES)) {
    for (const type of types) {
      const body = new RegExp(`interface ${type}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(source.get(file) ?? '')?.[1]
      if (body === undefined) throw new Error(`${file} has no interface ${type}`)
      for (const [, name] of body.matchAll(/^ {2}(?:readonly )?(\w+)[?(<:]/gm)) names.add(name!)
    }
  }
  return names
}
