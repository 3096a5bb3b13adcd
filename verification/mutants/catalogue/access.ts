import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const SERVER = 'packages/server/src'
const TESTS = 'packages/server/test'
const tests = (file: string, ...names: string[]): CaughtBy => ({ judge: 'tests', file: `${TESTS}/${file}`, names })

const ALL_ROUTES = 'names no hidden schedule, on every route of the OpenAPI document'
const AS_IF_NOT_THERE = 'gets the answer that the others do not exist, in lists, figures, events and changes'
const NO_INPUT = 'finds no input and no result in any answer or event'

/** Mistakes in who may do what over HTTP, and who sees which schedules. */
export const ACCESS_MUTANTS: readonly Mutant[] = [
  {
    name: 'access-open-without-a-function',
    rule: 'access',
    breaks: 'Without an access function, every caller may read.',
    edits: [
      edit(
        `${SERVER}/create-handler.ts`,
        '  const decision = await options.access(request)\n',
        "  const decision = (await (options.access as typeof options.access | null)?.(request)) ?? 'read'\n",
      ),
      edit(`${SERVER}/create-handler.ts`, '  if (options.access === null) {', '  if (options.access === undefined) {'),
    ],
    caughtBy: tests(
      'access.test.ts',
      'without a decision is closed for everything but the probes and what brings its own proof',
    ),
  },
  {
    name: 'access-reader-changes',
    rule: 'access',
    breaks: 'A caller who may read may also change schedules.',
    edits: [
      edit(
        `${SERVER}/may-call.ts`,
        'return asker.rights.has(right)',
        "return asker.rights.has(right) || asker.level === 'read'",
      ),
    ],
    caughtBy: tests('access.test.ts', 'by bearer tokens: none sees nothing, read changes nothing, operate does all'),
  },
  {
    name: 'access-unknown-right-ignored',
    rule: 'access',
    breaks: 'A misspelt right is ignored, so what it was meant to withdraw stays granted.',
    edits: [
      edit(
        `${SERVER}/access.ts`,
        '    if (RIGHTS.some((right) => right === name)) continue\n',
        '    if (name !== undefined) continue\n',
      ),
    ],
    caughtBy: tests(
      'rights.test.ts',
      'a right that does not exist opens nothing: it may have been meant to withdraw one',
    ),
  },
  {
    name: 'access-right-by-any-value',
    rule: 'access',
    breaks: 'A right is granted by any value but false.',
    edits: [edit(`${SERVER}/access.ts`, 'given[right] === true)', 'given[right] !== false)')],
    caughtBy: tests(
      'rights.test.ts',
      'a right that does not exist opens nothing: it may have been meant to withdraw one',
    ),
  },
  {
    name: 'access-fleet-by-partial-caller',
    rule: 'access',
    breaks: 'A caller who sees some schedules only drains instances and activates deployments.',
    edits: [
      edit(
        `${SERVER}/may-call.ts`,
        "return asker.level === 'operate' && asker.isVisible === null",
        "return asker.level === 'operate'",
      ),
    ],
    caughtBy: tests('rights.test.ts', 'changes nothing that concerns the fleet, and sees no figures of all schedules'),
  },
  {
    name: 'access-input-in-answers',
    rule: 'access',
    breaks: 'A caller without the right seeInput gets inputs and results.',
    edits: [
      edit(
        `${SERVER}/create-handler.ts`,
        "const isHidden = !asker.rights.has('seeInput')",
        'const isHidden = asker.rights.size < 0',
      ),
    ],
    caughtBy: tests('rights.test.ts', NO_INPUT),
  },
  {
    name: 'access-result-in-answers',
    rule: 'access',
    breaks: 'Only inputs are hidden from a caller without the right seeInput, not results.',
    edits: [edit(`${SERVER}/hide-payloads.ts`, "new Set(['input', 'result'])", "new Set(['input'])")],
    caughtBy: tests('rights.test.ts', NO_INPUT),
  },
  {
    name: 'visible-by-a-promise',
    rule: 'visibility',
    breaks: 'A function visible that answers a promise shows every schedule.',
    edits: [edit(`${SERVER}/create-handler.ts`, 'given(schedule) === true', 'Boolean(given(schedule))')],
    caughtBy: tests('rights.test.ts', 'sees nothing if visible answers something else than true'),
  },
  {
    name: 'visible-path-not-judged',
    rule: 'visibility',
    breaks: 'Methods that name a hidden schedule answer about it.',
    edits: [
      edit(
        `${SERVER}/visible-source.ts`,
        'if (name === null || !sight.isVisible(name)) throw notFound(name)',
        'if (name === null) throw notFound(name)',
      ),
      edit(`${SERVER}/create-handler.ts`, '  demandVisibleIn(route, parts, call.asker)\n', ''),
    ],
    caughtBy: tests('rights.test.ts', AS_IF_NOT_THERE),
  },
  {
    name: 'visible-kept-answer',
    rule: 'visibility',
    breaks: 'An answer kept for an idempotency key is given to a caller who does not see its schedule.',
    edits: [edit(`${SERVER}/create-handler.ts`, '  demandVisibleIn(route, parts, call.asker)\n', '')],
    caughtBy: tests('visible.test.ts', 'does not repeat what another caller was answered about a hidden schedule'),
  },
  {
    name: 'visible-lists-whole',
    rule: 'visibility',
    breaks: 'Pages of lists contain hidden schedules.',
    edits: [
      edit(
        `${SERVER}/visible-source.ts`,
        'return { items: page.items.filter(isSeen), next:',
        'return { items: page.items, next:',
      ),
    ],
    caughtBy: tests('visible.test.ts', ALL_ROUTES),
  },
  {
    name: 'visible-cursor-readable',
    rule: 'visibility',
    breaks: 'The cursor of a page names the hidden item that it ends at.',
    edits: [
      edit(`${SERVER}/visible-source.ts`, 'page.next === null ? null : seal.close(purpose, page.next)', 'page.next'),
    ],
    caughtBy: tests('visible.test.ts', ALL_ROUTES),
  },
  {
    name: 'visible-cursor-of-another-list',
    rule: 'visibility',
    breaks: 'A sealed cursor of one list is accepted by another.',
    edits: [edit(`${SERVER}/seal.ts`, 'setAAD(Buffer.from(purpose))', "setAAD(Buffer.from('any'))", 2)],
    caughtBy: tests(
      'visible.test.ts',
      'refuses a cursor of another list, of a caller who sees everything, or that was changed',
    ),
  },
  {
    name: 'visible-job-not-judged',
    rule: 'visibility',
    breaks: 'A caller makes a visible schedule that runs a hidden job.',
    edits: [
      edit(
        `${SERVER}/visible-source.ts`,
        "if (typeof job === 'string' && !sight.isVisible(job)) {",
        "if (typeof job !== 'string' && job !== undefined) {",
      ),
    ],
    caughtBy: tests('visible.test.ts', 'is to create schedules of visible jobs, not of others'),
  },
  {
    name: 'visible-renamed-to',
    rule: 'visibility',
    breaks: 'The hidden name that a job was renamed to is told.',
    edits: [
      edit(
        `${SERVER}/visible-source.ts`,
        'renamedTo === undefined || !isVisible(renamedTo) ? rest',
        'renamedTo === undefined ? rest',
      ),
    ],
    caughtBy: tests('visible.test.ts', 'does not reveal what a job was renamed to if that name is hidden', ALL_ROUTES),
  },
  {
    name: 'visible-search-unbounded',
    rule: 'visibility',
    breaks: 'One request reads pages without end in search of something to see.',
    edits: [edit(`${SERVER}/visible-source.ts`, 'const PAGES_INSTEAD = 10\n', 'const PAGES_INSTEAD = 1_000\n')],
    caughtBy: tests('visible.test.ts', 'bounds what a request reads in search of something to see'),
  },
  {
    name: 'access-of-a-stream-for-ever',
    rule: 'access',
    breaks: 'A stream of events stays open after the access of its reader was withdrawn.',
    edits: [edit(`${SERVER}/events/stream.ts`, '    if (++this.#beats >= this.#hub.beatsMost) this.end()\n', '')],
    caughtBy: tests(
      'events.test.ts',
      'ends a stream after a while, so that access is decided anew; its reader goes on behind the last event',
    ),
  },
  {
    name: 'read-never-times-out',
    rule: 'bounds',
    breaks: 'A read waits for a slow store without an end.',
    edits: [
      edit(
        `${SERVER}/create-handler.ts`,
        'return readInTime(route, options.readTimeout, answering)',
        'return answering',
      ),
    ],
    caughtBy: tests(
      'read-timeout.test.ts',
      'a read that takes too long is answered, counts until the store has answered, and changes are waited for',
    ),
  },
]
