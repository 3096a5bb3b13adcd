import { edit, type Mutant } from '../mutant.ts'

const CONFORMANCE = 'packages/cronce/test/store/zookeeper-conformance.test.ts'
const SESSION = 'packages/cronce/test/store/zookeeper-session.test.ts'

/** Mistakes in the driver for ZooKeeper. All of its guards rest on one comparison of the server: that no commit came in between. */
export const ZOOKEEPER_MUTANTS: readonly Mutant[] = [
  {
    name: 'zookeeper-without-count',
    rule: 'P2',
    breaks: 'A commit is written although another commit has changed the state that it was decided on.',
    edits: [edit('store/zookeeper/driver.ts', 'version: moment.version,', 'version: -1,')],
    caughtBy: {
      judge: 'tests',
      file: SESSION,
      names: ['a commit is not written over another one that came in between'],
    },
  },
  {
    name: 'zookeeper-without-guards',
    rule: 'P2',
    breaks: 'A change is written although its guards fail.',
    edits: [edit('store/zookeeper/driver.ts', 'filter((_, index) => seen.groupsHeld[index])', 'filter(() => true)')],
    caughtBy: {
      judge: 'tests',
      file: CONFORMANCE,
      names: ['a fire that has ended is refused with its record, and nothing of the change is written'],
    },
  },
  {
    name: 'zookeeper-any-answer',
    rule: 'P2',
    breaks: 'The answer to another request passes for the answer to a write.',
    edits: [edit('store/zookeeper/session.ts', 'waiting?.xid !== xid', 'waiting === undefined')],
    caughtBy: {
      judge: 'tests',
      file: SESSION,
      names: ['the answer to another request ends the connection, and is no answer to this one'],
    },
  },
  {
    name: 'zookeeper-torn-read',
    rule: 'P2',
    breaks: 'What is read at once is partly from before another commit and partly from after it.',
    edits: [edit('store/zookeeper/snapshot.ts', 'if (first.stat.version !== last.stat.version) return null', '')],
    caughtBy: {
      judge: 'tests',
      file: SESSION,
      names: ['what is read at once is of one moment, whatever is written in between'],
    },
  },
  {
    name: 'zookeeper-without-commit-guards',
    rule: 'P2',
    breaks: 'A claim is written although the guards of its commit fail: its instance is over.',
    edits: [edit('store/zookeeper/driver.ts', 'if (!seen.isHeld) return', 'if (seen === null) return')],
    caughtBy: {
      judge: 'tests',
      file: CONFORMANCE,
      names: ['all changes of a claimant that is not live are refused'],
    },
  },
  {
    name: 'zookeeper-plain-url',
    rule: 'P2',
    breaks: 'A URL for TLS connects without it.',
    edits: [edit('store/zookeeper/zookeeper.ts', '...(isSecure ? { tls: more.tls ?? {} } : {}),', '')],
    caughtBy: { judge: 'tests', file: SESSION, names: ['a URL for TLS is never asked without it'] },
  },
  {
    name: 'zookeeper-late-commit',
    rule: 'P2',
    breaks:
      'A commit that waits for its turn has all of its time from then on: it is sent after its caller has given up.',
    edits: [
      edit(
        'store/zookeeper/driver.ts',
        'this.#commit(commit, deadline))',
        'this.#commit(commit, performance.now() + this.#parts.target.timeoutMs))',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: SESSION,
      names: ['a commit that waited for its turn for too long is not sent when the server is back'],
    },
  },
]
