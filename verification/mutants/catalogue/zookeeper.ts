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
]
