import { edit, type Mutant } from '../mutant.ts'

const OPEN = 'packages/cronce/test/store/sqlite-open.test.ts'
const LEASES = 'packages/cronce/test/store/sqlite-leases.test.ts'
const PROCESSES = 'packages/cronce/test/store/sqlite-processes.test.ts'
const TRANSACTIONS = 'packages/cronce/test/store/sqlite-transactions.test.ts'
const CONFORMANCE = 'packages/cronce/test/store/sqlite-conformance.test.ts'

/** Mistakes in what only SQLite has: files, locks, real processes, the clocks of a host. */
export const SQLITE_MUTANTS: readonly Mutant[] = [
  {
    name: 'sqlite-no-version-check',
    rule: 'P2',
    breaks: 'What was decided on an old state is written over a newer one.',
    edits: [edit('store/sqlite/apply.ts', ' || Number(head?.version ?? 0) !== change.version) return', ') return')],
    caughtBy: {
      judge: 'tests',
      file: CONFORMANCE,
      names: ['a change is applied on the version it was decided on, and on no other'],
    },
  },
  {
    name: 'sqlite-leases-by-wall',
    rule: 'rule 20',
    breaks: 'Leases go by the wall clock of the host, which steps.',
    edits: [edit('store/sqlite/instances.ts', 'host.mono()', 'host.wall()', 3)],
    caughtBy: {
      judge: 'tests',
      file: LEASES,
      names: ["a step of the host's clock, in either direction, ends no lease and keeps none"],
    },
  },
  {
    name: 'sqlite-boot-forgotten',
    rule: 'rule 20',
    breaks: 'After another start of the machine the dead from before seem to live.',
    edits: [
      edit('store/sqlite/instances.ts', 'return row.boot !== host.bootId || renewed > mono', 'return renewed > mono'),
    ],
    caughtBy: {
      judge: 'tests',
      file: LEASES,
      names: ['after another start of the machine every earlier instance is expired'],
    },
  },
  {
    name: 'sqlite-hint-is-proof',
    rule: 'rule 15',
    breaks: 'A free lock is proof of death, also when a renewal came since.',
    edits: [edit('store/sqlite/instances.ts', 'renewals !== mark.renewals || !(', 'mark.renewals < 0 || !(')],
    caughtBy: {
      judge: 'tests',
      file: CONFORMANCE,
      names: ['an instance that has renewed since is not declared dead, neither by expiry nor by a hint'],
    },
  },
  {
    name: 'sqlite-lock-not-held',
    rule: 'rule 17',
    breaks: 'The lock that proves that a process lives is not really taken.',
    edits: [
      edit(
        'store/sqlite/liveness.ts',
        'pragma journal_mode = memory; begin exclusive',
        'pragma journal_mode = memory; begin',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: PROCESSES,
      names: ['a process that was stopped is not dead', 'a probe names the killed process, and no other'],
    },
  },
  {
    name: 'sqlite-missing-lock-is-death',
    rule: 'rule 17',
    breaks: 'An instance without a lock file is taken for dead.',
    edits: [
      edit(
        'store/sqlite/liveness.ts',
        '      return db !== null\n',
        '      return db !== null || !existsSync(this.#fileOf(instance))\n',
      ),
    ],
    caughtBy: { judge: 'tests', file: PROCESSES, names: ['a probe names the killed process, and no other'] },
  },
  {
    name: 'sqlite-transaction-waits',
    rule: 'rule 21',
    breaks: 'A function that waits is let, and what it writes later is in no transaction.',
    edits: [
      edit(
        'store/sqlite/transact.ts',
        '  if (isPromise(value)) {\n',
        '  if (isPromise(value) && token.length === 0) {\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: TRANSACTIONS,
      names: ['a function that waits is refused, and what it still wants to write is not written'],
    },
  },
  {
    name: 'sqlite-birth-ignored',
    rule: 'rule 22',
    breaks: 'A backup that is put in the place of the file is taken for the file.',
    edits: [
      edit(
        'store/sqlite/identity.ts',
        'return one.inode === other.inode && (one.born === null || other.born === null || isSameBirth(one.born, other.born))',
        'return one.inode === other.inode',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: OPEN,
      names: ['a backup put in the place of the file is a copy, also in the same inode'],
    },
  },
  {
    name: 'sqlite-network-accepted',
    rule: 'rule 22',
    breaks: 'A network file system is only warned about.',
    edits: [edit('store/sqlite/place.ts', '  if (type === FUSE && !production) {\n', '  if (!production) {\n')],
    caughtBy: { judge: 'tests', file: OPEN, names: ['a network file system is refused: 0x6969'] },
  },
  {
    name: 'sqlite-copy-runs',
    rule: 'rule 32',
    breaks: 'A copy of a store runs all its schedules a second time.',
    edits: [
      edit(
        'store/sqlite/identity.ts',
        '    if (!adopt) throw copied(file)\n',
        "    if (!adopt) warn('STORE_COPIED', copied(file).message)\n",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: OPEN,
      names: ['a copy is refused until it is adopted, and is then another epoch with no instance'],
    },
  },
  {
    name: 'sqlite-adopted-in-the-same-epoch',
    rule: 'rule 10, rule 32',
    breaks: 'A store that was adopted gives tokens that the original has given, too.',
    edits: [edit('store/sqlite/identity.ts', '    epoch += 1\n', '')],
    caughtBy: {
      judge: 'tests',
      file: OPEN,
      names: ['a copy is refused until it is adopted, and is then another epoch with no instance'],
    },
  },
  {
    name: 'sqlite-not-durable',
    rule: 'S12',
    breaks: 'A commit is answered before it is on the disk.',
    edits: [edit('store/sqlite/open.ts', 'pragma synchronous = full;', 'pragma synchronous = normal;')],
    caughtBy: { judge: 'tests', file: OPEN, names: ['a commit is on the disk when it is answered'] },
  },
  {
    name: 'sqlite-tokens-as-text',
    rule: 'P6',
    breaks: 'A page of runs omits or repeats a run whose token has another number of digits.',
    edits: [edit('store/sqlite/lists.ts', "[...FIRE_PLACE, 'cast(r.token as integer)']", "[...FIRE_PLACE, 'r.token']")],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/store/sqlite-conformance.test.ts',
      names: ['runs of one fire are ordered by token, and keep their place when they end'],
    },
  },
]
