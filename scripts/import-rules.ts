/**
 * Rooms and doors: which part of the code may import which, and what it must never do. The table is the architecture;
 * `npm test` fails when the code leaves it.
 */
export interface Room {
  readonly name: string
  /** Path of a folder (ending in a slash) or a file, from the root of the repository. */
  readonly path: string
  /** Other rooms it may import from. Its own files it always may. */
  readonly doors: readonly string[]
  /** Packages it may import, as patterns. */
  readonly packages: readonly RegExp[]
  /** What must not stand in it, and why. */
  readonly never: readonly Ban[]
  /** It imports what only the running program knows. */
  readonly loads?: boolean
}

interface Ban {
  readonly pattern: RegExp
  readonly reason: string
}

const NODE = /^node:/

const PURE: readonly Ban[] = [
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

/** A contract speaks of promises, and makes none itself. */
const PURE_BUT_PROMISES = PURE.filter(({ pattern }) => !pattern.source.includes('Promise'))

/** Handed its clock, randomness and identity; a simulation brings its own. */
const NO_AMBIENT: readonly Ban[] = [
  ...PURE.filter(({ pattern }) => !/await|Timeout/.test(pattern.source)),
  { pattern: /\bset(Timeout|Interval|Immediate)\b|\bAbortSignal\.timeout\b/, reason: 'waiting is for the clock' },
]

/** An entry says what is published, and nothing else. */
const ONLY_EXPORTS: readonly Ban[] = [
  { pattern: /\b(const|let|var|function|class|return)\b/, reason: 'an entry contains no code' },
]

const LIBRARY = 'packages/cronce/src'

export const ROOMS: readonly Room[] = [
  { name: 'error-codes', path: `${LIBRARY}/error-codes.ts`, doors: [], packages: [], never: PURE },
  { name: 'errors', path: `${LIBRARY}/errors.ts`, doors: ['error-codes'], packages: [], never: PURE },
  { name: 'words', path: `${LIBRARY}/words.ts`, doors: [], packages: [], never: PURE },
  { name: 'did-you-mean', path: `${LIBRARY}/did-you-mean.ts`, doors: [], packages: [], never: PURE },
  { name: 'duration', path: `${LIBRARY}/duration.ts`, doors: [], packages: [], never: PURE },
  {
    name: 'trigger',
    path: `${LIBRARY}/trigger/`,
    doors: ['errors', 'words', 'did-you-mean', 'duration'],
    packages: [],
    never: PURE,
  },
  {
    name: 'model',
    path: `${LIBRARY}/model/`,
    doors: ['trigger'],
    packages: [],
    never: PURE,
  },
  {
    name: 'policy',
    path: `${LIBRARY}/policy/`,
    doors: ['model', 'trigger', 'errors', 'words'],
    packages: [],
    never: PURE,
  },
  { name: 'clock', path: `${LIBRARY}/clock.ts`, doors: [], packages: [/^node:os$/], never: [] },
  { name: 'store', path: `${LIBRARY}/store/store.ts`, doors: ['model'], packages: [], never: PURE_BUT_PROMISES },
  {
    name: 'store/list-views',
    path: `${LIBRARY}/store/list-views.ts`,
    doors: ['store', 'model'],
    packages: [],
    never: PURE_BUT_PROMISES,
  },
  { name: 'store/wake-up', path: `${LIBRARY}/store/wake-up.ts`, doors: ['store'], packages: [], never: [] },
  {
    name: 'store/matches',
    path: `${LIBRARY}/store/matches.ts`,
    doors: ['store', 'model'],
    packages: [],
    never: PURE,
  },
  {
    name: 'store/store-error',
    path: `${LIBRARY}/store/store-error.ts`,
    doors: ['errors', 'words'],
    packages: [],
    never: PURE,
  },
  { name: 'store/warn-newer', path: `${LIBRARY}/store/warn-newer.ts`, doors: ['store'], packages: [], never: PURE },
  { name: 'store/name-of-url', path: `${LIBRARY}/store/name-of-url.ts`, doors: [], packages: [], never: PURE },
  {
    name: 'store/load-if-installed',
    path: `${LIBRARY}/store/load-if-installed.ts`,
    doors: [],
    packages: [],
    never: [],
  },
  {
    name: 'store/cursor',
    path: `${LIBRARY}/store/cursor.ts`,
    doors: ['store', 'store/store-error', 'model'],
    packages: [],
    never: PURE,
  },
  {
    name: 'store/memory',
    path: `${LIBRARY}/store/memory/`,
    doors: ['store', 'store/store-error', 'store/cursor', 'store/matches', 'model', 'errors', 'words', 'clock'],
    packages: [],
    never: [],
  },
  {
    name: 'store/sqlite',
    path: `${LIBRARY}/store/sqlite/`,
    doors: [
      'store',
      'store/store-error',
      'store/warn-newer',
      'store/cursor',
      'store/matches',
      'model',
      'errors',
      'words',
      'clock',
    ],
    packages: [NODE],
    never: [],
  },
  {
    name: 'store/postgres',
    path: `${LIBRARY}/store/postgres/`,
    doors: [
      'store',
      'store/store-error',
      'store/load-if-installed',
      'store/name-of-url',
      'store/warn-newer',
      'store/cursor',
      'store/matches',
      'store/wake-up',
      'model',
      'errors',
      'words',
      'clock',
    ],
    packages: [NODE, /^pg$/, /^postgres$/],
    never: [],
  },
  {
    name: 'store/redis',
    path: `${LIBRARY}/store/redis/`,
    doors: [
      'store',
      'store/store-error',
      'store/load-if-installed',
      'store/name-of-url',
      'store/warn-newer',
      'store/cursor',
      'store/matches',
      'store/wake-up',
      'model',
      'errors',
      'words',
      'clock',
    ],
    packages: [NODE, /^ioredis$/, /^redis$/],
    never: [],
  },
  {
    name: 'engine',
    path: `${LIBRARY}/engine/`,
    doors: ['store', 'store/list-views', 'model', 'policy', 'trigger', 'clock', 'errors', 'words'],
    packages: [],
    never: NO_AMBIENT,
  },
  {
    name: 'client',
    path: `${LIBRARY}/client/`,
    doors: [
      'store',
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
  // What a delivery is signed with, and how that is checked: for both sides, and so without anything else of the library.
  {
    name: 'signature',
    path: `${LIBRARY}/signature/`,
    doors: ['errors', 'words'],
    packages: [/^node:crypto$/],
    never: [],
  },
  // What runs, other than a function: threads, processes, commands, HTTP endpoints. Each becomes a handler.
  {
    name: 'target',
    path: `${LIBRARY}/target/`,
    doors: ['signature', 'app', 'client', 'engine', 'model', 'duration', 'did-you-mean', 'errors', 'words'],
    packages: [NODE],
    never: [],
  },
  {
    name: 'app',
    path: `${LIBRARY}/app/`,
    doors: [
      'error-codes',
      'signature',
      'target',
      'client',
      'engine',
      'store',
      'store/list-views',
      'store/store-error',
      'store/name-of-url',
      'store/memory',
      'store/postgres',
      'store/redis',
      'store/sqlite',
      'model',
      'policy',
      'trigger',
      'clock',
      'duration',
      'did-you-mean',
      'errors',
      'words',
    ],
    packages: [NODE],
    never: [],
  },
  // For those who have node-cron: what it asks whether to run, and what has its API. Built on an app, as users would.
  {
    name: 'node-cron',
    path: `${LIBRARY}/node-cron/`,
    doors: [
      'app',
      'client',
      'engine',
      'target',
      'store',
      'model',
      'policy',
      'trigger',
      'clock',
      'duration',
      'errors',
      'words',
    ],
    packages: [NODE],
    never: [],
  },
  {
    name: 'testing',
    path: `${LIBRARY}/testing/`,
    doors: [
      'app',
      'client',
      'engine',
      'store',
      'store/list-views',
      'store/memory',
      'model',
      'trigger',
      'clock',
      'duration',
      'errors',
      'words',
    ],
    packages: [/^node:(assert|test)/],
    never: [],
  },
  {
    name: 'entry cronce/cron',
    path: `${LIBRARY}/cron.ts`,
    doors: ['error-codes', 'errors', 'words', 'trigger'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/sqlite',
    path: `${LIBRARY}/sqlite.ts`,
    doors: ['store/sqlite'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/postgres',
    path: `${LIBRARY}/postgres.ts`,
    doors: ['store/postgres'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/redis',
    path: `${LIBRARY}/redis.ts`,
    doors: ['store/redis'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/memory',
    path: `${LIBRARY}/memory.ts`,
    doors: ['store/memory'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/testing',
    path: `${LIBRARY}/testing.ts`,
    doors: ['testing'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/signature',
    path: `${LIBRARY}/signature.ts`,
    doors: ['signature'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/node-cron',
    path: `${LIBRARY}/node-cron.ts`,
    doors: ['node-cron'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce/internal',
    path: `${LIBRARY}/internal.ts`,
    doors: ['did-you-mean', 'duration', 'app', 'client', 'model', 'target'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  {
    name: 'entry cronce',
    path: `${LIBRARY}/index.ts`,
    doors: ['entry cronce/cron', 'app', 'client', 'model', 'store', 'target', 'errors', 'words'],
    packages: [],
    never: ONLY_EXPORTS,
  },
  // Judges the library, and so knows nothing of it.
  { name: 'checker', path: 'packages/checker/src/', doors: [], packages: [], never: PURE },
  {
    name: 'server',
    path: 'packages/server/src/',
    doors: [],
    packages: [NODE, /^cronce(\/|$)/, /^hono(\/|$)/],
    never: [],
  },
  // The user's own files: what they are called is known to the running program only.
  {
    name: 'cli/load-module',
    path: 'packages/cli/src/load-module.ts',
    doors: [],
    packages: [NODE],
    never: [],
    loads: true,
  },
  {
    name: 'cli',
    path: 'packages/cli/src/',
    doors: ['cli/load-module'],
    packages: [NODE, /^cronce(\/|$)/, /^@cronce\/(checker|server)$/, /^cronstrue$/, /^yaml$/],
    never: [],
  },
]

/** Where what users name is loaded: their jobs, their configuration. Nothing else may import what it can't name itself. */
const LOADERS: readonly string[] = [
  'packages/cli/src/load-module.ts',
  `${LIBRARY}/target/isolate/load-task.ts`,
  `${LIBRARY}/node-cron/load-background-task.ts`,
]

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
      violations.push({ file, message: 'belongs to no room: give it one in scripts/import-rules.ts' })
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
  return [...violations, ...findCycles(graph)]
}

function roomOf(file: string, rooms: readonly Room[]): Room | undefined {
  return rooms.find((room) => (room.path.endsWith('/') ? file.startsWith(room.path) : file === room.path))
}

function findClosedDoors(file: string, room: Room, imports: readonly string[], rooms: readonly Room[]): string[] {
  const messages: string[] = []
  for (const path of imports) {
    if (!isRelative(path)) {
      if (!room.packages.some((allowed) => allowed.test(path))) messages.push(`${room.name} must not import ${path}`)
      continue
    }
    if (!path.endsWith('.ts')) messages.push(`${path} must name the file, with .ts`)
    const target = roomOf(resolvePath(file, path), rooms)
    if (target === undefined) messages.push(`${path} leads out of all rooms`)
    else if (target !== room && !room.doors.includes(target.name)) {
      messages.push(`${room.name} has no door to ${target.name} (${path})`)
    }
  }
  return messages
}

function findBans(file: string, room: Room, code: string): string[] {
  // An import of what only the running program knows can't be judged.
  const computed = { pattern: /\bimport\((?!"")|\brequire\(/, reason: 'imports name what they import' }
  return [...room.never, ...(LOADERS.includes(file) ? [] : [computed])].flatMap(({ pattern, reason }) => {
    const found = pattern.exec(code)
    return found === null ? [] : [`${room.name} must not say ${found[0]}: ${reason}`]
  })
}

function findCycles(graph: ReadonlyMap<string, readonly string[]>): Violation[] {
  const violations: Violation[] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string): void => {
    const at = path.indexOf(file)
    if (at >= 0) {
      violations.push({ file, message: `imports itself in a circle: ${[...path.slice(at), file].join(' -> ')}` })
      return
    }
    if (done.has(file)) return
    path.push(file)
    for (const target of graph.get(file) ?? []) visit(target)
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return violations
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
