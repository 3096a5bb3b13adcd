import { edit, type Mutant } from '../mutant.ts'

const CONFORMANCE = 'packages/cronce/test/store/etcd-conformance.test.ts'
const CLOCK = 'packages/cronce/test/store/etcd-clock.test.ts'
const IDENTITY = 'packages/cronce/test/store/etcd-identity.test.ts'
const LINK = 'packages/cronce/test/store/etcd-link.test.ts'
const MEMBERS = 'packages/cronce/test/store/etcd-members.test.ts'
const FULL = 'packages/cronce/test/store/etcd-limits.test.ts'

function ruled(...names: readonly string[]): Mutant['caughtBy'] {
  return { judge: 'tests', file: CONFORMANCE, names }
}

function raced(...names: readonly string[]): Mutant['caughtBy'] {
  return { judge: 'tests', file: 'packages/cronce/test/store/etcd-races.test.ts', names }
}

function hostile(...names: readonly string[]): Mutant['caughtBy'] {
  return { judge: 'tests', file: 'packages/cronce/test/store/etcd-hostile.test.ts', names }
}

/**
 * Mistakes in the key-value store and its driver for etcd. The client decides on what it has read; what the server compares in the
 * write itself is what races are decided by, so each of these comparisons is missing once.
 */
export const ETCD_MUTANTS: readonly Mutant[] = [
  {
    name: 'etcd-without-version',
    rule: 'P2',
    breaks: 'A change is written over a state that it was not decided on, if another process wrote that.',
    edits: [
      edit(
        'store/kv/plan-change.ts',
        "{ key, is: 'absent' } : { key, is: 'revision', revision: before.revision }",
        "{ key, is: 'absent' } : { key, is: 'present' }",
      ),
    ],
    caughtBy: ruled('of many concurrent changes of one schedule, exactly one succeeds'),
  },
  {
    name: 'etcd-without-absence',
    rule: 'P2',
    breaks: 'A schedule that another process has created meanwhile is created a second time.',
    edits: [
      edit(
        'store/kv/plan-change.ts',
        "before === undefined ? { key, is: 'absent' }",
        "before === undefined ? { key: keys.meta, is: 'present' }",
      ),
    ],
    caughtBy: ruled('of many concurrent creations of one schedule, exactly one succeeds'),
  },
  {
    name: 'etcd-room-of-a-refused-end',
    rule: 'P7',
    breaks: 'An end makes room for a claim in the same commit, also if the end itself is refused.',
    edits: [edit('store/kv/slots.ts', 'if (by > 0) this.#added', 'this.#added')],
    caughtBy: ruled('an end that is refused makes no room for what follows in its batch'),
  },
  {
    name: 'etcd-burial-without-renewals',
    rule: 'P3',
    breaks: 'An instance that renews while it is declared dead is dead, but gets the answer that it lives.',
    edits: [
      edit(
        'store/kv/instances.ts',
        "        { key: keys.key('iv', name), is: 'version', version: renewals + 1 },\n",
        '',
      ),
    ],
    caughtBy: raced('an instance that renews is not declared dead over an older look'),
  },
  {
    name: 'etcd-beat-without-record',
    rule: 'P3',
    breaks: 'An instance that is declared dead while it renews gets the answer that it lives.',
    edits: [
      edit(
        'store/kv/instances.ts',
        ": [{ key, is: 'revision', revision: known.revision }]",
        ": [{ key: keys.meta, is: 'present' }]",
      ),
    ],
    caughtBy: raced('an instance that is declared dead does not renew'),
  },
  {
    name: 'etcd-step-without-run',
    rule: 'P3',
    breaks: 'A run that ends while it begins a step still begins the step.',
    edits: [
      edit(
        'store/kv/steps.ts',
        'guards: [identity.guard, unchanged, ...decision.guards],',
        'guards: [identity.guard, unchanged],',
      ),
    ],
    caughtBy: raced('a run that ends, or whose instance dies, begins no step'),
  },
  {
    name: 'etcd-step-twice',
    rule: 'P3',
    breaks: 'Two calls that begin one step both begin it.',
    edits: [
      edit(
        'store/kv/steps.ts',
        'guards: [identity.guard, unchanged, ...decision.guards],',
        'guards: [identity.guard, ...decision.guards],',
      ),
    ],
    caughtBy: raced('a step is begun once'),
  },
  {
    name: 'etcd-note-without-run',
    rule: 'P3',
    breaks: 'A run that ends while it reports progress still reports it.',
    edits: [
      edit(
        'store/kv/steps.ts',
        'group: { guards: run.guards, puts, deletes: [] }',
        'group: { guards: [], puts, deletes: [] }',
      ),
    ],
    caughtBy: raced('a run that ends tells nothing'),
  },
  {
    name: 'etcd-prune-without-look',
    rule: 'P5',
    breaks: 'A fire that is opened again while it is pruned loses its lines.',
    edits: [
      edit('store/kv/prune.ts', "guards: [{ range: keys.linesOf(fire), is: 'quiet', revision }],", 'guards: [],'),
    ],
    caughtBy: raced('a fire that is opened again is neither pruned nor trimmed'),
  },
  {
    name: 'etcd-without-floor',
    rule: 'P2',
    breaks: 'A schedule that is created while another one is removed takes changes that were decided on that one.',
    edits: [
      edit(
        'store/kv/facts.ts',
        'return { guards: [guard], puts:',
        'return { guards: guard.is === undefined ? [guard] : [], puts:',
      ),
    ],
    caughtBy: raced('a schedule that is created counts from above every one that was removed'),
  },
  {
    name: 'etcd-app-without-version',
    rule: 'P2',
    breaks: 'Of two processes that save the record of an app at once, both believe that they did.',
    edits: [edit('store/kv/store.ts', '[unchanged])', '[])')],
    caughtBy: ruled('of many concurrent saves, exactly one succeeds'),
  },
  {
    name: 'etcd-own-clock',
    rule: 'P4',
    breaks: 'The clock of the process decides what is due.',
    edits: [edit('store/kv/time.ts', 'return Math.max(earliest, ', 'return Date.now() + Math.min(0, ')],
    caughtBy: {
      judge: 'tests',
      file: CLOCK,
      names: ["the store's clock is the server's, independent of the process's clock"],
    },
  },
  {
    name: 'etcd-clock-ahead',
    rule: 'P4',
    breaks: 'The middle of the bounds is taken for the time: half of the fires start early.',
    edits: [
      edit(
        'store/kv/server-clock.ts',
        'earliest: Math.floor(now + this.#low - slack)',
        'earliest: Math.floor(now + (this.#low + this.#high) / 2)',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: CLOCK,
      names: ["the lower bound is never ahead of the server's clock, the upper one never behind"],
    },
  },
  {
    name: 'etcd-no-ratchet',
    rule: 'P7',
    breaks: 'A process that knows the clock less well records an end before the beginning that it read.',
    edits: [
      edit('store/kv/time.ts', 'Math.max(earliest, Math.min(this.#seen, latest + MEMBERS_APART_MS))', 'earliest'),
    ],
    caughtBy: { judge: 'tests', file: CLOCK, names: ['a time that was read is not followed by an earlier one'] },
  },
  {
    name: 'etcd-wrong-member-counts',
    rule: 'P4',
    breaks: 'One member with a wrong clock moves the time of the whole fleet.',
    edits: [edit('store/kv/time.ts', 'if (writtenAt <= latest + MEMBERS_APART_MS) this.#seen', 'this.#seen')],
    caughtBy: { judge: 'tests', file: CLOCK, names: ['a time far ahead of what the server can show does not count'] },
  },
  {
    name: 'etcd-without-epoch',
    rule: 'P8',
    breaks: 'A process that has not noticed the adoption goes on writing in the old epoch.',
    edits: [
      edit(
        'store/kv/identity.ts',
        "return { key: this.#keys.meta, is: 'revision', revision: this.#revision }",
        "return { key: this.#keys.meta, is: 'present' }",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: IDENTITY,
      names: ['what was decided before an adoption is refused after it'],
    },
  },
  {
    name: 'etcd-blind-to-restore',
    rule: 'P8',
    breaks: 'A cluster that was restored from a snapshot is used as if nothing had happened.',
    edits: [edit('store/etcd/driver.ts', 'if (revision < before) {', 'if (revision < 0) {')],
    caughtBy: {
      judge: 'tests',
      file: IDENTITY,
      names: ['a cluster that went back in time is refused until it is adopted'],
    },
  },
  {
    name: 'etcd-beyond-quota',
    rule: 'P5',
    breaks: 'Nested writes grow the database beyond its quota.',
    edits: [
      edit('store/etcd/driver.ts', "puts.length > 0 ? puts : [{ key: this.#touched, value: '' }]", 'puts'),
      edit('store/etcd/driver.ts', '[putOperation(first!), ...', '[...puts.slice(0, 1).map(putOperation), ...'),
    ],
    caughtBy: { judge: 'tests', file: FULL, names: ['a full database refuses every write, and the error has a hint'] },
  },
  {
    name: 'etcd-counts-folded-twice',
    rule: 'P5',
    breaks: 'A process writes a sum over the one that another process has written since.',
    edits: [
      edit(
        'store/kv/counts.ts',
        "is: 'quiet', revision },\n      ],",
        "is: 'quiet', revision: Number.MAX_SAFE_INTEGER - 1 },\n      ],",
      ),
    ],
    caughtBy: raced('counts that another process has folded meanwhile are not folded again'),
  },
  {
    name: 'etcd-sum-overwritten',
    rule: 'P5',
    breaks: 'A late end replaces the sum of its hour.',
    edits: [edit('store/kv/counts.ts', '[...entries, ...(sum === undefined ? [] : [sum])].reduce', 'entries.reduce')],
    caughtBy: {
      judge: 'tests',
      file: FULL,
      names: ['a late end is added to the sum of its hour, however many keys come before it'],
    },
  },
  {
    name: 'etcd-watch-without-leader',
    rule: 'P5',
    breaks: 'A watch stays open and silent on a member that is cut off from its peers.',
    edits: [edit('store/etcd/connection.ts', ", { hasleader: 'true' })", ')')],
    caughtBy: {
      judge: 'tests',
      file: LINK,
      names: ['a watch ends when its member has lost its leader, and the next one goes to another member'],
    },
  },
  {
    name: 'etcd-stale-login',
    rule: 'P5',
    breaks: 'A change of users or roles stops every process whose token was signed before it.',
    edits: [edit('store/etcd/errors.ts', " || error.message.includes('revision of auth store is old')", '')],
    caughtBy: {
      judge: 'tests',
      file: LINK,
      names: ['a change of users and roles makes signed tokens stale: the store logs in again'],
    },
  },
  {
    name: 'etcd-read-of-nothing',
    rule: 'P8',
    breaks:
      'A member that is behind tells an old revision: the store takes it for a restored snapshot, and stops the fleet.',
    edits: [
      edit('store/etcd/driver.ts', 'reads.length === 0 ? [{ get: this.#touched }] : reads', 'reads'),
      edit('store/etcd/driver.ts', 'start < asked.length; start', 'start === 0 || start < asked.length; start'),
    ],
    caughtBy: {
      judge: 'tests',
      file: MEMBERS,
      names: ['a member that is behind answers neither a read of nothing nor a question for the term'],
    },
  },
  {
    name: 'etcd-term-of-a-member',
    rule: 'P8',
    breaks: 'A member that is behind tells an old term: a process that connects to it takes the store for a copy.',
    edits: [
      edit(
        'store/etcd/driver.ts',
        'this.#txn(READ, { success: [readOperation({ get: this.#touched })] })',
        'this.#txn(READ, {})',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: MEMBERS,
      names: ['a member that is behind answers neither a read of nothing nor a question for the term'],
    },
  },
  {
    name: 'etcd-later-term',
    rule: 'P8',
    breaks: 'A process that writes a later term while another one opens the store makes it look like a copy.',
    edits: [
      edit(
        'store/kv/identity.ts',
        'Number(known?.value ?? 0)',
        'Number((await readTerm(this.#driver, this.#keys))?.value ?? 0)',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: IDENTITY,
      names: ['a term that another process writes while the store is opened is no sign of a copy'],
    },
  },
  {
    name: 'etcd-earlier-term',
    rule: 'P8',
    breaks: 'A process writes the term that it has read over a later one: a restored snapshot is noticed less often.',
    edits: [edit('store/kv/identity.ts', 'guards: [this.guard, unchanged]', 'guards: [this.guard]')],
    caughtBy: {
      judge: 'tests',
      file: IDENTITY,
      names: ['a term that another process writes while the store is opened is no sign of a copy'],
    },
  },
  {
    name: 'etcd-guards-of-all-limits',
    rule: 'P7',
    breaks: 'A batch that names more limits than a transaction may compare is refused, each time.',
    edits: [edit('store/kv/change-writer.ts', 'slots.size > MOST_SLOTS', 'slots.size > 100 * MOST_SLOTS')],
    caughtBy: ruled('a batch may name hundreds of limits, and hundreds of instances'),
  },
  {
    name: 'etcd-flat-puts',
    rule: 'P5',
    breaks: 'A batch with runs of more instances than a transaction has operations is refused, each time.',
    edits: [edit('store/etcd/driver.ts', '...nest(others.map(putOperation))', '...others.map(putOperation)')],
    caughtBy: ruled('a batch may name hundreds of limits, and hundreds of instances'),
  },
  {
    name: 'etcd-erased-again',
    rule: 'P1',
    breaks: 'The records of a schedule that is made again while they are erased are gone, so its fires may run again.',
    edits: [
      edit(
        'store/kv/prune.ts',
        'const guards = [identity.guard, ...also]',
        'const guards = also.length >= 0 ? [identity.guard] : []',
      ),
    ],
    caughtBy: raced('a schedule that is made again while its records are erased keeps them'),
  },
  {
    name: 'etcd-cut-in-two',
    rule: 'P5',
    breaks: 'A read of more than one request fails if the server is compacted in between.',
    edits: [
      edit('store/etcd/driver.ts', ' || at !== undefined || tries === MOST_TRIES', ' || at !== undefined || tries > 0'),
    ],
    caughtBy: {
      judge: 'tests',
      file: FULL,
      names: ['a read that is larger than one request is made again if the server compacts what it has begun'],
    },
  },
  {
    name: 'etcd-joins-with-a-sharp-clock-only',
    rule: 'P5',
    breaks:
      'A process waits for a sharp clock for longer than its first heartbeat may take, and never joins if etcd is far away.',
    edits: [edit('store/kv/instances.ts', 'const SHARPEN_PART = 1 / 2', 'const SHARPEN_PART = 2')],
    caughtBy: {
      judge: 'tests',
      file: CLOCK,
      names: ['an instance that joins, or asks only for the time, waits until it is known well'],
    },
  },
  {
    name: 'etcd-used-up-streams',
    rule: 'P5',
    breaks: 'A process that has sent a billion requests over one connection reaches etcd never again.',
    edits: [edit('store/etcd/connection.ts', 'if (isUsedUp(error)) session.close()', '')],
    caughtBy: { judge: 'tests', file: LINK, names: ['a connection that has used up its stream ids is replaced'] },
  },
  {
    name: 'etcd-answer-cut-off',
    rule: 'P2',
    breaks: 'An answer that was cut off counts as an empty one: a write that was refused looks like one that was made.',
    edits: [
      edit(
        'store/etcd/connection.ts',
        'else if (status.code === 0 && answer !== undefined) resolve(answer)',
        'else if (status.code === 0) resolve(answer ?? Buffer.alloc(0))',
      ),
    ],
    caughtBy: hostile('is not answered by what was cut off, though its status is good'),
  },
  {
    name: 'etcd-watch-left-behind',
    rule: 'P5',
    breaks: 'A watch stays on a member that no call goes to any more: if that falls silent, no wake-up arrives.',
    edits: [edit('store/etcd/link.ts', "    this.#connections[member]!.endStreams('another member is asked')\n", '')],
    caughtBy: hostile('moves to the member that is asked, once another one gave no answer'),
  },
  {
    name: 'etcd-watch-open-side',
    rule: 'P5',
    breaks: 'A watch that the server has ended stays open on this side: no wake-up arrives.',
    edits: [edit('store/etcd/connection.ts', "    stream.on('end', over)\n", '')],
    caughtBy: hostile('has ended if the server has, though this side could go on writing'),
  },
  {
    name: 'etcd-login-each',
    rule: 'P5',
    breaks: 'Every call whose token has expired logs in by itself, and the server is busy with passwords.',
    edits: [
      edit('store/etcd/link.ts', 'if (this.#token === login) this.#token = null', 'if (login) this.#token = null'),
    ],
    caughtBy: hostile('many calls whose token has expired log in once'),
  },
]
