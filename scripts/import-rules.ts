/**
 * Rooms and doors: which part of the code may import which, and what it must never do. The table is the architecture;
 * `npm test` fails when the code leaves it. `scripts/docs/doors.ts` writes it into docs/architecture.md.
 */
export interface Room {
  readonly name: string
  /** What it contains, for the table in the docs. */
  readonly holds: string
  /** Path of a folder (ending in a slash) or a file, from the root of the repository. */
  readonly path: string
  /** Other rooms it may import from. Its own files it always may. */
  readonly doors: readonly string[]
  /** Packages it may import. A `*` at the end stands for any text. */
  readonly packages: readonly string[]
  /** What must not stand in it. `null`: no more than in any file. */
  readonly never: Rule | null
}

interface Rule {
  /** Continues "must never", for the table in the docs. */
  readonly about: string
  readonly bans: readonly Ban[]
}

interface Ban {
  readonly pattern: RegExp
  readonly reason: string
}

const NODE = 'node:*'

const PURE_BANS: readonly Ban[] = [
  { pattern: /\bawait\b|\basync\b|\.then\(|\bPromise\b|\bqueueMicrotask\b/, reason: 'decisions are synchronous' },
  { pattern: /\bset(Timeout|Interval|Immediate)\b|\bfetch\b/, reason: 'decisions do not wait' },
  {
    pattern: /\bDate\.now\b|\bDate\(\)|=\s*Date\b(?!\.)|\bnew Date\b(?!\()|\bTemporal\b/,
    reason: 'decisions are handed the time',
  },
  { pattern: /\bperformance\b|\bprocess\s*(?:[.[]|\?\.)/, reason: 'decisions are handed the time' },
  {
    pattern: /\.(get|set)(FullYear|Month|Date|Day|Hours|Minutes|Seconds)\(/,
    reason: "the host's zone does not matter",
  },
  { pattern: /\bDateTimeFormat\(\)|\.toLocale/, reason: "the host's zone and language do not matter" },
  { pattern: /\bMath\.random\b|\bcrypto\b/, reason: 'decisions are handed their randomness' },
]

const PURE: Rule = { about: 'wait, read a clock, use randomness or the zone of the host', bans: PURE_BANS }

/** Names, notes and logs come from users: they may contain anything. */
const MARKUP: Ban = {
  pattern: /\bdangerouslySetInnerHTML\b|\.(inner|outer)HTML\b|\binsertAdjacentHTML\b|\bdocument\.write\b/,
  reason: 'text stays text',
}

/** A contract speaks of promises, and makes none itself. */
const PURE_BUT_PROMISES: Rule = {
  about: 'read a clock, set a timer, use randomness or the zone of the host',
  bans: PURE_BANS.filter(({ pattern }) => !pattern.source.includes('Promise')),
}

/** Handed its clock, randomness and identity; a simulation brings its own. */
const NO_AMBIENT: Rule = {
  about: 'use a clock, timer, randomness or identity other than those it is handed',
  bans: [
    ...PURE_BANS.filter(({ pattern }) => !/await|Timeout/.test(pattern.source)),
    { pattern: /\bset(Timeout|Interval|Immediate)\b|\bAbortSignal\.timeout\b/, reason: 'waiting is for the clock' },
  ],
}

/** An entry file only re-exports what is published. */
const ONLY_EXPORTS: Rule = {
  about: 'contain code',
  bans: [{ pattern: /\b(const|let|var|function|class|return)\b/, reason: 'an entry contains no code' }],
}

const LIBRARY = 'packages/cronce/src'
const AUDIT = 'packages/audit/src'

export const ROOMS: readonly Room[] = [
  {
    name: 'error-codes',
    holds: 'every error code, with its exit code and HTTP status',
    path: `${LIBRARY}/error-codes.ts`,
    doors: [],
    packages: [],
    never: PURE,
  },
  {
    name: 'errors',
    holds: 'the error class with its code and hint',
    path: `${LIBRARY}/errors.ts`,
    doors: ['error-codes'],
    packages: [],
    never: PURE,
  },
  {
    name: 'words',
    holds: 'words for messages: counts, kinds of values',
    path: `${LIBRARY}/words.ts`,
    doors: [],
    packages: [],
    never: PURE,
  },
  {
    name: 'did-you-mean',
    holds: 'the nearest known name',
    path: `${LIBRARY}/did-you-mean.ts`,
    doors: [],
    packages: [],
    never: PURE,
  },
  {
    name: 'duration',
    holds: 'durations written as text',
    path: `${LIBRARY}/duration.ts`,
    doors: [],
    packages: [],
    never: PURE,
  },
  {
    name: 'version',
    holds: 'the version of the package',
    path: `${LIBRARY}/version.ts`,
    doors: [],
    packages: [],
    never: PURE,
  },
  {
    name: 'node-crypto',
    holds: 'hashes and random bytes of Node.js, loaded on first use',
    path: `${LIBRARY}/node-crypto.ts`,
    doors: [],
    packages: ['node:crypto'],
    never: null,
  },
  {
    name: 'trigger',
    holds: 'cron expressions, intervals, time zones',
    path: `${LIBRARY}/trigger/`,
    doors: ['errors', 'words', 'did-you-mean', 'duration'],
    packages: [],
    never: PURE,
  },
  {
    name: 'model',
    holds: 'states, records, events, limits: nouns and closed sets of words',
    path: `${LIBRARY}/model/`,
    doors: ['trigger'],
    packages: [],
    never: PURE,
  },
  {
    name: 'policy',
    holds: 'decisions: pure functions of a state',
    path: `${LIBRARY}/policy/`,
    doors: ['model', 'trigger', 'errors'],
    packages: [],
    never: PURE,
  },
  {
    name: 'run',
    holds: 'what a handler is given, in whichever process it runs',
    path: `${LIBRARY}/run/`,
    doors: ['node-crypto', 'model', 'errors'],
    packages: ['node:async_hooks'],
    never: NO_AMBIENT,
  },
  {
    name: 'clock',
    holds: 'the clock that the engine and the client are handed',
    path: `${LIBRARY}/clock.ts`,
    doors: [],
    packages: ['node:os'],
    never: null,
  },
  {
    name: 'store',
    holds: 'the contract of a store; it contains no decision',
    path: `${LIBRARY}/store/store.ts`,
    doors: ['model'],
    packages: [],
    never: PURE_BUT_PROMISES,
  },
  {
    name: 'store/list-views',
    holds: 'fires and runs as views of records',
    path: `${LIBRARY}/store/list-views.ts`,
    doors: ['store', 'model'],
    packages: [],
    never: PURE_BUT_PROMISES,
  },
  {
    name: 'store/change-schedules',
    holds: 'read, decide, write, and again after a conflict: one way for the engine and the client',
    path: `${LIBRARY}/store/change-schedules.ts`,
    doors: ['store', 'model', 'policy', 'clock'],
    packages: [],
    never: NO_AMBIENT,
  },
  {
    name: 'store/wake-up',
    holds: 'messages of a server that wake instances',
    path: `${LIBRARY}/store/wake-up.ts`,
    doors: ['store'],
    packages: [],
    never: null,
  },
  {
    name: 'store/matches',
    holds: 'whether a record is one that was asked for',
    path: `${LIBRARY}/store/matches.ts`,
    doors: ['store', 'model'],
    packages: [],
    never: PURE,
  },
  {
    name: 'store/store-error',
    holds: 'the error class of stores',
    path: `${LIBRARY}/store/store-error.ts`,
    doors: ['errors'],
    packages: [],
    never: PURE,
  },
  {
    name: 'store/store-options',
    holds: 'options of stores: unknown ones, and what was given instead of a store',
    path: `${LIBRARY}/store/store-options.ts`,
    doors: ['errors', 'did-you-mean', 'words'],
    packages: [],
    never: PURE,
  },
  {
    name: 'store/warn-newer',
    holds: 'the warning about what a newer version wrote',
    path: `${LIBRARY}/store/warn-newer.ts`,
    doors: ['store'],
    packages: [],
    never: PURE,
  },
  {
    name: 'store/name-of-url',
    holds: 'the name of a store in messages, without secrets',
    path: `${LIBRARY}/store/name-of-url.ts`,
    doors: [],
    packages: [],
    never: PURE,
  },
  {
    name: 'store/load-if-installed',
    holds: 'drivers that may be missing',
    path: `${LIBRARY}/store/load-if-installed.ts`,
    doors: [],
    packages: [],
    never: null,
  },
  {
    name: 'store/cursor',
    holds: 'positions in lists',
    path: `${LIBRARY}/store/cursor.ts`,
    doors: ['store', 'store/store-error', 'model'],
    packages: [],
    never: PURE,
  },
  {
    name: 'store/memory',
    holds: 'the reference store',
    path: `${LIBRARY}/store/memory/`,
    doors: ['store', 'store/store-error', 'store/cursor', 'store/matches', 'model'],
    packages: [],
    never: null,
  },
  {
    name: 'store/sqlite',
    holds: 'the store on SQLite',
    path: `${LIBRARY}/store/sqlite/`,
    doors: ['store', 'store/store-error', 'store/store-options', 'store/warn-newer', 'store/cursor', 'model', 'errors'],
    packages: [NODE],
    never: null,
  },
  {
    name: 'store/postgres',
    holds: 'the store on PostgreSQL; loads its driver when it is opened',
    path: `${LIBRARY}/store/postgres/`,
    doors: [
      'store',
      'store/store-error',
      'store/store-options',
      'store/load-if-installed',
      'store/name-of-url',
      'store/warn-newer',
      'store/cursor',
      'store/matches',
      'store/wake-up',
      'model',
      'errors',
    ],
    packages: [NODE, 'pg', 'postgres'],
    never: null,
  },
  {
    name: 'store/redis',
    holds: 'the store on Redis; loads its driver when it is opened',
    path: `${LIBRARY}/store/redis/`,
    doors: [
      'store',
      'store/store-error',
      'store/store-options',
      'store/load-if-installed',
      'store/name-of-url',
      'store/cursor',
      'store/matches',
      'store/wake-up',
      'model',
      'errors',
      'words',
    ],
    packages: [NODE, 'ioredis', 'redis'],
    never: null,
  },
  {
    name: 'store/kv',
    holds: 'the store on any system with ordered keys, guarded writes and leases; a driver connects it',
    path: `${LIBRARY}/store/kv/`,
    doors: [
      'store',
      'store/store-error',
      'store/store-options',
      'store/cursor',
      'store/matches',
      'store/wake-up',
      'model',
    ],
    packages: [NODE],
    never: null,
  },
  {
    name: 'store/etcd',
    holds: 'the driver for etcd: gRPC over HTTP/2, and the clock of the server',
    path: `${LIBRARY}/store/etcd/`,
    doors: ['store/kv', 'store', 'store/store-error', 'errors'],
    packages: [NODE],
    never: null,
  },
  {
    name: 'store/zookeeper',
    holds: 'the driver for ZooKeeper: its protocol over TCP, keys as nodes, leases as sessions',
    path: `${LIBRARY}/store/zookeeper/`,
    doors: ['store/kv', 'store', 'store/store-error', 'store/cursor', 'errors'],
    packages: [NODE],
    never: null,
  },
  {
    name: 'engine',
    holds: 'one instance: claim, execute, settle, renew, recover, deploy; it knows no database',
    path: `${LIBRARY}/engine/`,
    doors: [
      'run',
      'store',
      'store/change-schedules',
      'store/list-views',
      'model',
      'policy',
      'clock',
      'errors',
      'words',
    ],
    packages: [],
    never: NO_AMBIENT,
  },
  {
    name: 'client',
    holds: 'what operators and applications ask of a store; it starts no loop',
    path: `${LIBRARY}/client/`,
    doors: [
      'store',
      'store/change-schedules',
      'store/list-views',
      'model',
      'policy',
      'trigger',
      'clock',
      'duration',
      'did-you-mean',
      'errors',
      'words',
    ],
    packages: [],
    never: NO_AMBIENT,
  },
  {
    name: 'signature',
    holds: 'signed requests, for both sides of an HTTP target',
    path: `${LIBRARY}/signature/`,
    doors: ['errors', 'words'],
    packages: [],
    never: null,
  },
  {
    name: 'target',
    holds: 'what runs, other than a function; it starts, watches and ends things, and decides nothing',
    path: `${LIBRARY}/target/`,
    doors: ['signature', 'run', 'client', 'engine', 'model', 'version', 'errors', 'words'],
    packages: [NODE],
    never: null,
  },
  {
    name: 'watch/rules',
    holds: 'what is wrong with a schedule or a fleet: pure functions of facts, with their default thresholds',
    path: `${LIBRARY}/watch/rules/`,
    doors: ['client', 'model', 'trigger', 'words'],
    packages: [],
    never: PURE,
  },
  {
    name: 'watch',
    holds: 'the watchdog: looks, keeps alerts, sends messages; the rules decide what is wrong',
    path: `${LIBRARY}/watch/`,
    doors: ['watch/rules', 'client', 'engine', 'store', 'model', 'clock', 'words'],
    packages: [],
    never: NO_AMBIENT,
  },
  {
    name: 'alerts',
    holds: 'channels that send alerts to other services',
    path: `${LIBRARY}/alerts/`,
    doors: ['watch', 'signature', 'client', 'version'],
    packages: [],
    never: null,
  },
  {
    name: 'check-in',
    holds: 'reports of runs to services that watch them from outside',
    path: `${LIBRARY}/check-in/`,
    doors: ['errors'],
    packages: [],
    never: null,
  },
  {
    name: 'app',
    holds: 'reads options and connects the parts; it decides nothing',
    path: `${LIBRARY}/app/`,
    doors: [
      'check-in',
      'error-codes',
      'signature',
      'target',
      'watch',
      'watch/rules',
      'run',
      'version',
      'node-crypto',
      'client',
      'engine',
      'store',
      'store/list-views',
      'store/store-error',
      'store/name-of-url',
      'store/etcd',
      'store/zookeeper',
      'store/memory',
      'store/postgres',
      'store/redis',
      'store/sqlite',
      'model',
      'policy',
      'trigger',
      'clock',
      'did-you-mean',
      'errors',
      'words',
    ],
    packages: [NODE],
    never: null,
  },
  {
    name: 'node-cron',
    holds: 'the coordinator and the drop-in for node-cron, built on an app as users would build it',
    path: `${LIBRARY}/node-cron/`,
    doors: ['app', 'client', 'engine', 'target', 'run', 'store', 'model', 'trigger', 'clock', 'errors'],
    packages: [NODE],
    never: null,
  },
  {
    name: 'metrics',
    holds: 'what one process counts, and its text for Prometheus',
    path: `${LIBRARY}/metrics/`,
    doors: ['app', 'client', 'engine', 'model', 'version', 'errors'],
    packages: [],
    never: PURE_BUT_PROMISES,
  },
  {
    name: 'otel',
    holds: 'spans around runs, and the same metrics, for OpenTelemetry',
    path: `${LIBRARY}/otel/`,
    doors: ['app', 'engine', 'metrics', 'run', 'version'],
    packages: ['@opentelemetry/api'],
    never: null,
  },
  {
    name: 'testing/conformance',
    holds: 'the contract of a store as tests, published as `@cronce/conformance`; it contains no store',
    path: `${LIBRARY}/testing/conformance/`,
    doors: ['store', 'store/list-views', 'model'],
    packages: ['cronce', 'node:assert*', 'node:test*'],
    never: null,
  },
  {
    name: 'testing',
    holds: 'the test kit',
    path: `${LIBRARY}/testing/`,
    doors: ['app', 'client', 'store/memory', 'model', 'trigger', 'clock', 'duration', 'errors'],
    packages: [],
    never: null,
  },
  {
    name: 'entry cronce/cron',
    holds: 'the published entry',
    path: `${LIBRARY}/cron.ts`,
    doors: ['error-codes', 'errors', 'trigger'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/sqlite',
    holds: 'the published entry',
    path: `${LIBRARY}/sqlite.ts`,
    doors: ['store/sqlite'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/postgres',
    holds: 'the published entry',
    path: `${LIBRARY}/postgres.ts`,
    doors: ['store/postgres'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/redis',
    holds: 'the published entry',
    path: `${LIBRARY}/redis.ts`,
    doors: ['store/redis'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/zookeeper',
    holds: 'the published entry',
    path: `${LIBRARY}/zookeeper.ts`,
    doors: ['store/zookeeper'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/etcd',
    holds: 'the published entry',
    path: `${LIBRARY}/etcd.ts`,
    doors: ['store/etcd'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/memory',
    holds: 'the published entry',
    path: `${LIBRARY}/memory.ts`,
    doors: ['store/memory'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/testing',
    holds: 'the published entry',
    path: `${LIBRARY}/testing.ts`,
    doors: ['testing'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/signature',
    holds: 'the published entry',
    path: `${LIBRARY}/signature.ts`,
    doors: ['signature'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/node-cron',
    holds: 'the published entry',
    path: `${LIBRARY}/node-cron.ts`,
    doors: ['node-cron'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/alerts',
    holds: 'the published entry',
    path: `${LIBRARY}/alerts.ts`,
    doors: ['alerts', 'watch', 'model'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/metrics',
    holds: 'the published entry',
    path: `${LIBRARY}/metrics.ts`,
    doors: ['metrics'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/check-in',
    holds: 'the published entry',
    path: `${LIBRARY}/check-in.ts`,
    doors: ['check-in'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/otel',
    holds: 'the published entry',
    path: `${LIBRARY}/otel.ts`,
    doors: ['otel'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/internal',
    holds: 'what the packages below share with the library: `scripts/internal-exports.ts`',
    path: `${LIBRARY}/internal.ts`,
    doors: [
      'did-you-mean',
      'app',
      'client',
      'metrics',
      'model',
      'policy',
      'store/postgres',
      'store/sqlite',
      'target',
      'watch',
      'watch/rules',
      'words',
    ],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce',
    holds: 'the published entry',
    path: `${LIBRARY}/index.ts`,
    doors: ['entry cronce/cron', 'app', 'check-in', 'run', 'client', 'model', 'store', 'target', 'watch'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'queues',
    holds: 'targets that enqueue in BullMQ, pg-boss and graphile-worker; it imports none of them',
    path: 'packages/queues/src/',
    doors: [],
    packages: [NODE, 'cronce', 'cronce/internal'],
    never: null,
  },
  {
    name: 'nestjs',
    holds: 'jobs as decorated methods of Nest; it uses the library as applications do',
    path: 'packages/nestjs/src/',
    doors: [],
    packages: ['cronce', '@cronce/dashboard', '@cronce/server', '@nestjs/common', '@nestjs/core'],
    never: null,
  },
  {
    name: 'checker',
    holds: 'the judge of recorded histories; it knows nothing of the library that it judges',
    path: 'packages/checker/src/',
    doors: [],
    packages: [],
    never: PURE,
  },
  {
    name: 'entry @cronce/conformance',
    holds: 'the published entry',
    path: 'packages/conformance/src/',
    doors: ['testing/conformance'],
    packages: ['cronce'],
    never: ONLY_EXPORTS,
  },
  {
    name: 'server',
    holds: 'the HTTP API; everything goes through the client',
    path: 'packages/server/src/',
    doors: [],
    packages: [NODE, 'cronce', 'cronce/*', 'hono'],
    never: null,
  },
  {
    name: 'dashboard',
    holds: 'the page and the HTTP API as one handler; what the page shows comes from the API alone',
    path: 'packages/dashboard/src/',
    doors: [],
    packages: [NODE, '@cronce/server', 'cronce'],
    never: null,
  },
  {
    name: 'audit/facts',
    holds: 'what a file can say about schedules: nouns',
    path: `${AUDIT}/facts/`,
    doors: [],
    packages: [],
    never: PURE,
  },
  {
    name: 'audit/discover',
    holds: 'the files of the target',
    path: `${AUDIT}/discover/`,
    doors: [],
    packages: [NODE],
    never: null,
  },
  {
    name: 'audit/cron',
    holds: 'expressions in the dialects of other schedulers, judged by the engine of the library',
    path: `${AUDIT}/cron/`,
    doors: ['audit/facts'],
    packages: ['cronce/cron'],
    never: null,
  },
  {
    name: 'audit/read',
    holds: 'one reader per language or format; it states facts and judges nothing',
    path: `${AUDIT}/read/`,
    doors: ['audit/facts', 'audit/discover'],
    packages: [NODE, 'oxc-parser', 'web-tree-sitter'],
    never: null,
  },
  {
    name: 'audit/join',
    holds: 'facts of different files put together: units, imports, guards',
    path: `${AUDIT}/join/`,
    doors: ['audit/facts', 'audit/discover', 'audit/read'],
    packages: [],
    never: null,
  },
  {
    name: 'audit/rules',
    holds: 'one rule per file: a pure function of the facts',
    path: `${AUDIT}/rules/`,
    doors: ['audit/facts', 'audit/join', 'audit/cron'],
    packages: [],
    never: null,
  },
  {
    name: 'audit',
    holds: 'the stages of an audit one after the other, its reports, the command `cronce-audit`',
    path: `${AUDIT}/`,
    doors: ['audit/facts', 'audit/discover', 'audit/cron', 'audit/read', 'audit/join', 'audit/rules'],
    packages: [NODE],
    never: null,
  },
  {
    name: 'cli/load-module',
    holds: "the user's own files, which only the running program knows by name",
    path: 'packages/cli/src/load-module.ts',
    doors: [],
    packages: [NODE],
    never: null,
  },
  {
    name: 'cli',
    holds: 'the command `cronce`',
    path: 'packages/cli/src/',
    doors: ['cli/load-module'],
    packages: [
      ...[NODE, 'cronce', 'cronce/*', '@cronce/audit', '@cronce/checker', '@cronce/dashboard', '@cronce/server'],
      ...['cronstrue', 'yaml'],
    ],
    never: null,
  },
  {
    name: 'dashboard/ui',
    holds: 'the page of the dashboard, in browsers: it knows the HTTP API, and the words of the command line',
    path: 'packages/dashboard/ui/',
    doors: ['cli'],
    packages: ['@cronce/checker', '@preact/signals', 'cronce', 'preact', 'preact/hooks'],
    never: { about: 'write markup from text', bans: [MARKUP] },
  },
]

/** Where what users name is loaded: their jobs, their configuration. Nothing else may import what it can't name itself. */
const LOADERS: readonly string[] = [
  'packages/cli/src/load-module.ts',
  `${LIBRARY}/target/isolate/load-task.ts`,
  `${LIBRARY}/node-cron/load-background-task.ts`,
]

const RULES = 'scripts/import-rules.ts'

export interface Violation {
  readonly file: string
  readonly message: string
}

/** All the ways in which these files (path to text) leave the table. */
export function findViolations(files: ReadonlyMap<string, string>, rooms: readonly Room[] = ROOMS): Violation[] {
  const violations: Violation[] = []
  const graph = new Map<string, string[]>()
  for (const [file, text] of files) {
    const room = roomOf(file, rooms)
    if (room === undefined) {
      violations.push({ file, message: `belongs to no room: give it one in ${RULES}` })
      continue
    }
    const { imports, code } = dissect(text)
    graph.set(
      file,
      imports.filter(isRelative).map((path) => resolvePath(file, path)),
    )
    for (const message of [...findClosedDoors(file, room, imports, rooms), ...findBans(file, room, code)]) {
      violations.push({ file, message })
    }
  }
  const doors = new Map(rooms.map((room) => [room.name, room.doors]))
  return [
    ...violations,
    ...findCycles(doors).map((path) => ({ file: RULES, message: `doors lead in a circle: ${path.join(' -> ')}` })),
    ...findCycles(graph).map((path) => ({
      file: path[0]!,
      message: `imports itself in a circle: ${path.join(' -> ')}`,
    })),
  ]
}

/** Doors and packages that no import of these files uses: what is not needed is not allowed. */
export function findUnused(files: ReadonlyMap<string, string>, rooms: readonly Room[] = ROOMS): Violation[] {
  const imported = new Map(rooms.map((room) => [room, new Set<string>()]))
  for (const [file, text] of files) {
    const room = roomOf(file, rooms)
    if (room === undefined) continue
    for (const path of dissect(text).imports) {
      const target = isRelative(path) ? roomOf(resolvePath(file, path), rooms)?.name : path
      if (target !== undefined) imported.get(room)!.add(target)
    }
  }
  return rooms.flatMap(({ name, doors, packages }, index) => {
    const used = [...imported.get(rooms[index]!)!]
    const unused = [
      ...doors.filter((door) => !used.includes(door)),
      ...packages.filter((allowed) => !used.some((path) => isAllowed(path, allowed))),
    ]
    return unused.map((one) => ({ file: RULES, message: `${name} has a door to ${one} that it does not use` }))
  })
}

function roomOf(file: string, rooms: readonly Room[]): Room | undefined {
  return rooms.find((room) => (room.path.endsWith('/') ? file.startsWith(room.path) : file === room.path))
}

function findClosedDoors(file: string, room: Room, imports: readonly string[], rooms: readonly Room[]): string[] {
  const messages: string[] = []
  for (const path of imports) {
    if (!isRelative(path)) {
      if (!room.packages.some((allowed) => isAllowed(path, allowed)))
        messages.push(`${room.name} must not import ${path}`)
      continue
    }
    if (path.endsWith('.css')) continue
    if (!/\.tsx?$/.test(path)) messages.push(`${path} must name the file, with .ts`)
    const target = roomOf(resolvePath(file, path), rooms)
    if (target === undefined) messages.push(`${path} leads out of all rooms`)
    else if (target !== room && !room.doors.includes(target.name)) {
      messages.push(`${room.name} has no door to ${target.name} (${path})`)
    }
  }
  return messages
}

function isAllowed(path: string, allowed: string): boolean {
  return allowed.endsWith('*') ? path.startsWith(allowed.slice(0, -1)) : path === allowed
}

function findBans(file: string, room: Room, code: string): string[] {
  // An import of what only the running program knows can't be judged.
  const computed = { pattern: /\bimport\((?!"")|\brequire\(/, reason: 'imports name what they import' }
  return [...(room.never?.bans ?? []), ...(LOADERS.includes(file) ? [] : [computed])].flatMap(({ pattern, reason }) => {
    const found = pattern.exec(code)
    return found === null ? [] : [`${room.name} must not say ${found[0]}: ${reason}`]
  })
}

/** Each cycle is a path that ends with its first node. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (node: string): void => {
    const at = path.indexOf(node)
    if (at >= 0) {
      cycles.push([...path.slice(at), node])
      return
    }
    if (done.has(node)) return
    path.push(node)
    for (const target of graph.get(node) ?? []) visit(target)
    path.pop()
    done.add(node)
  }
  for (const node of graph.keys()) visit(node)
  return cycles
}

/**
 * What a file imports, and its code without comments and with every text emptied. Texts and comments are found in one pass,
 * since each may contain what looks like the other. Type-only imports count: a room that knows another's types knows it.
 */
function dissect(text: string): { imports: string[]; code: string } {
  // Comments, regular expressions (behind what a division can't stand behind), and the three kinds of text.
  const token =
    /\/\/.*|\/\*[\s\S]*?\*\/|(?<=[=(,:;!&|?{}[\n]\s*)\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`/g
  const imports: string[] = []
  let code = ''
  let end = 0
  for (const match of text.matchAll(token)) {
    code += text.slice(end, match.index)
    end = match.index + match[0].length
    if (/^\/[/*]/.test(match[0])) continue
    const isTemplate = match[0].startsWith('`')
    const isImport = /(\bfrom|\bimport)\s*\(?\s*$/.test(code)
    if (isImport && !isTemplate) imports.push(match[0].slice(1, -1))
    // What a template inserts is code; telling it from the text around it would take a parser, so all of it counts.
    code += isTemplate ? match[0] : '""'
  }
  return { imports, code: code + text.slice(end) }
}

function isRelative(path: string): boolean {
  return path.startsWith('.')
}

function resolvePath(file: string, path: string): string {
  return new URL(path, `file:///${file}`).pathname.slice(1)
}
