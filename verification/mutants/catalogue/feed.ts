import { edit, type Mutant } from '../mutant.ts'

/** Mistakes in feeds: ends that are never reported, without a gap. */
export const FEED_MUTANTS: readonly Mutant[] = [
  {
    name: 'feed-moves-on-before-it-read',
    rule: 'rule 47',
    breaks: 'A look that fails in the middle is not repeated: the position has moved.',
    edits: [
      edit(
        'client/feed.ts',
        '    const runs = await this.#runs()\n    const ends = await this.#listEnds()\n',
        '    const ends = await this.#listEnds()\n    this.#position = ends.next\n    const runs = await this.#runs()\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['F1'] },
  },
  {
    name: 'feed-ready-before-its-baseline',
    rule: 'rule 47',
    breaks: 'A feed reports ready before it has read where it begins.',
    edits: [
      edit(
        'client/feed.ts',
        '  try {\n    await reader.begin(from)\n',
        '  onReady()\n  try {\n    await reader.begin(from)\n',
      ),
      edit('client/feed.ts', '    throw error\n  }\n  onReady()\n', '    throw error\n  }\n'),
    ],
    caughtBy: { judge: 'simulation', names: ['F1'] },
  },
  {
    name: 'feed-forgets-fires-without-a-run',
    rule: 'rule 47',
    breaks: 'The ends of fires that no run ended are not logged.',
    edits: [
      edit(
        'store/memory/apply.ts',
        'if (line.run !== null || line.isFinal) logEnd(space, key)',
        'if (line.run !== null) logEnd(space, key)',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['F1'] },
  },
  {
    name: 'feed-only-what-never-ran',
    rule: 'rule 47',
    breaks: 'A fire that ends while it waits for a retry, or otherwise than its run, is not reported.',
    edits: [
      edit(
        'store/memory/apply.ts',
        'line.run !== null || line.isFinal',
        'line.run !== null || (line.isFinal && line.attempt === 0)',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['F1'] },
  },
  {
    name: 'feed-hides-a-gap',
    rule: 'rule 47',
    breaks: 'Ends that a look could not read are passed over in silence.',
    edits: [edit('client/feed.ts', ' || !ends.complete) entries.push', ') entries.push')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/client/feed-many.test.ts',
      names: ['more ends than one look reads are a gap, once, and the ends that follow are reported'],
    },
  },
  {
    name: 'feed-position-beyond-the-log',
    rule: 'rule 47',
    breaks: 'SQLite takes a position for known that is older than its log.',
    edits: [edit('store/sqlite/lists.ts', ' && place >= last - ENDS_KEPT', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/store/sqlite-ends.test.ts',
      names: ['a position that is older than the log is not complete'],
    },
  },
]
