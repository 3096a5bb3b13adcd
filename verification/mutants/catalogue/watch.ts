import { edit, type Mutant } from '../mutant.ts'

const RULES = 'packages/cronce/test/watch/rules.test.ts'
const ALERTS = 'packages/cronce/test/watch/alerts.test.ts'
const HEARTBEAT = 'packages/cronce/test/watch/heartbeat.test.ts'
const RECONCILE = 'packages/cronce/test/watch/reconcile.test.ts'
const TAKEOVER = 'packages/cronce/test/watch/takeover.test.ts'
const FILES: Readonly<Record<string, string>> = {
  alerts: ALERTS,
  heartbeat: HEARTBEAT,
  reconcile: RECONCILE,
  takeover: TAKEOVER,
}
const RULE = 'the watchdog (docs/alerts.md)'

/** Each rule, and a test in which a real cause makes it fire. */
const FIRING = {
  overdue: 'fires for what waits while a handler blocks the only place, and resolves when it is free',
  silent: 'fires by maxAge for a job that only runs when triggered',
  failing: 'fires after three failed fires in a row, once, and resolves with the next success',
  stuck: 'fires for a run that hangs without a timeout, and resolves when it ends',
  slow: 'slow fires for a run that takes far longer than the others, and resolves with the next one',
  late: 'late fires for a start far later than the others, and resolves with the next one on time',
  missed: 'fires for due times that were lost in a long outage of the whole fleet, and resolves with the next run',
  'no-runner': 'fires if no live instance has the job of an active schedule, and resolves when one has',
  fleet: 'fires if there are fewer instances than planned, and resolves when they are back',
  clock: 'fires for a clock that is far from the store’s, and resolves when that instance has left',
  store: 'fires when the store was away, one message for all that it caused, and resolves',
  duplicate: 'fires if an old server in another namespace writes the heartbeat of the app, and resolves when it stops',
}

const OFF: readonly Mutant[] = Object.entries(FIRING).map(([rule, name]) => ({
  name: `watch-without-${rule}`,
  rule: RULE,
  breaks: `The rule ${rule} never fires.`,
  edits: [
    edit(
      'watch/rules/judge.ts',
      "return threshold === false ? 'fine'",
      `return threshold === false || rule === ('${rule}' as string) ? 'fine'`,
    ),
    edit(
      'watch/rules/judge.ts',
      'return threshold === false ? []',
      `return threshold === false || rule === ('${rule}' as string) ? []`,
    ),
  ],
  caughtBy: { judge: 'tests', file: rule === 'duplicate' ? HEARTBEAT : RULES, names: [name] },
}))

function mutant(name: string, breaks: string, file: string, find: string, replace: string, test: string): Mutant {
  const [, where = '', title = test] = /^(\w+): (.*)$/.exec(test) ?? []
  const tests = FILES[where] ?? RULES
  return {
    ...{ name, rule: RULE, breaks, edits: [edit(file, find, replace)] },
    caughtBy: { judge: 'tests', file: tests, names: [title] },
  }
}

export const WATCH_MUTANTS: readonly Mutant[] = [
  ...OFF,
  mutant(
    'watch-overdue-by-policy',
    'A fire that its overlap policy holds back counts as overdue.',
    'watch/rules/overdue.ts',
    'const waiting = isHeld ? [] : ',
    'const waiting = ',
    'does not fire for a fire that waits its turn, nor for a paused schedule',
  ),
  mutant(
    'watch-silent-after-pause',
    'What an operator kept from running counts as silence.',
    'watch/rules/silent.ts',
    '...onPurpose, ',
    '',
    'does not fire for a first run to come, nor after a pause',
  ),
  mutant(
    'watch-heartbeat-unheard',
    'A heartbeat that does not come is not looked for.',
    'watch/looks.ts',
    'return Math.abs(now - this.#heartbeat.at) > SILENT_PERIODS',
    'return now < 0 * SILENT_PERIODS',
    'heartbeat: is looked for even if the pages of all schedules take an hour',
  ),
  mutant(
    'watch-heartbeat-patient',
    'A heartbeat that is being written for ever counts as written.',
    'watch/rules/silent.ts',
    'if (schedule.job.startsWith(HEARTBEAT_PREFIX)) return',
    'if (schedule.job === HEARTBEAT_PREFIX) return',
    'heartbeat: fires if it does not come for two periods, since nothing has room for it, and resolves when it does',
  ),
  mutant(
    'watch-duplicate-by-predecessor',
    'A namespace that this one follows counts as a second fleet.',
    'app/heartbeat.ts',
    '&& one.at > earliestAt',
    '',
    'heartbeat: does not fire for a rolling deploy, an app of another name, nor a namespace that this one follows',
  ),
  mutant(
    'watch-duplicate-unheard',
    'Work that app.detect() found to be executed twice is not reported.',
    'watch/looks.ts',
    'if (isDuplicate(item)) return true',
    'if (isDuplicate(item)) return false',
    'heartbeat: fires if a second host executes it, stays one alert, and resolves once it is executed once',
  ),
  {
    name: 'watch-news-as-new',
    rule: RULE,
    breaks: 'Further subjects of an alert are sent as an alert of their own.',
    edits: [edit('watch/reconcile.ts', "known.state !== 'firing') return 'firing'", "next.hasNews) return 'firing'")],
    caughtBy: { judge: 'simulation', names: ['A2'] },
  },
  {
    name: 'watch-ends-left-out',
    rule: RULE,
    breaks: 'What went wrong among more ends than one look reads is never seen.',
    edits: [edit('watch/looks.ts', 'if (!complete) this.#unlisted', 'if (next === null) this.#unlisted')],
    caughtBy: {
      judge: 'tests',
      file: RECONCILE,
      names: ['what went wrong is looked for on record, outcome by outcome'],
    },
  },
  {
    name: 'watch-by-own-jobs',
    rule: RULE,
    breaks: 'What a job sets for the watchdog does not count in processes that do not have the job.',
    edits: [edit('watch/watcher.ts', 'this.#thresholds.of(job)', 'this.#thresholds.of(job.slice(1))')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/watch/job-watch.test.ts',
      names: ['counts if another process of the app watches, also for schedules that a client made'],
    },
  },
  mutant(
    'watch-slow-by-few-samples',
    'Two runs are enough to call the third one slow.',
    'watch/rules/figures.ts',
    'LEAST_SAMPLES = 10',
    'LEAST_SAMPLES = 1',
    'slow does not fire for the first runs, however long, nor for one whose duration varies',
  ),
  mutant(
    'watch-late-by-turn',
    'A run that waited for its turn counts as late.',
    'watch/rules/late.ts',
    "run?.cause === 'turn' ||",
    '',
    'late does not fire for what waited its turn or was triggered',
  ),
  mutant(
    'watch-missed-by-deploy',
    'Due times that a short deploy missed are reported.',
    'watch/rules/missed.ts',
    ' && end.endedAt! - end.dueAt > afterMs',
    '',
    'does not fire for a planned deploy of some minutes',
  ),
  mutant(
    'watch-no-runner-by-deploy',
    'A job that is gone for a moment is reported.',
    'watch/rules/no-runner.ts',
    ', holdMs: afterMs }',
    ', holdMs: afterMs * 0 }',
    'does not fire during a deploy, nor for a paused schedule',
  ),
  mutant(
    'watch-fleet-by-rollout',
    'An instance that restarts is reported as missing.',
    'watch/rules/fleet.ts',
    'text, holdMs: afterMs }',
    'text, holdMs: afterMs * 0 }',
    'does not fire for a rolling deploy',
  ),
  mutant(
    'watch-flapping',
    'A problem that comes and goes is a new alert each time.',
    'watch/seen.ts',
    'now - fineSince >= this.#overMs',
    'now >= fineSince',
    'fires for what waits while a handler blocks the only place, and resolves when it is free',
  ),
  mutant(
    'watch-by-all',
    'Every instance watches.',
    'watch/watcher.ts',
    'return first?.id === instance',
    'return first !== undefined || instance !== undefined',
    'alerts: costs one store call a minute and fleet while nothing is wrong',
  ),
  mutant(
    'watch-forgets-outbox',
    'A successor does not send what the watcher before it had written down.',
    'watch/watcher.ts',
    'const term = new Term(this.#parts, await this.#readRecord())',
    'const term = new Term(this.#parts, { ...(await this.#readRecord()), outbox: [] })',
    'alerts: the watching instance dies between noticing and sending: its successor sends, once',
  ),
  mutant(
    'watch-forgets-alerts',
    'A successor reports again what the watcher before it had reported.',
    'watch/reconcile.ts',
    'const isNew = known === undefined ||',
    'const isNew = known !== undefined ||',
    'alerts: a firing alert is repeated, and reports new subjects',
  ),
  mutant(
    'watch-drops-failed-messages',
    'A message that a channel did not take is not sent again.',
    'watch/sender.ts',
    'if (isGivenUp) this.#done.add(message.id)',
    'this.#done.add(message.id)',
    'alerts: a channel that fails is tried again, gets each message once and in order, and holds up no other',
  ),
  mutant(
    'watch-as-patient-as-ever',
    'A channel has no more time for a message that it did not take in time: a slow receiver gets it for a day.',
    'watch/sender.ts',
    'Math.min(LONGEST_SEND_MS, 2 * patienceMs)',
    'Math.min(LONGEST_SEND_MS, patienceMs)',
    'alerts: a receiver that takes longer than a channel waits gets a message few times, since the channel waits longer',
  ),
  mutant(
    'watch-sends-beside-itself',
    'A message is sent again while a function may still deliver it.',
    'watch/sender.ts',
    'const given = clock.sleep(LONGEST_SEND_MS, over)',
    'const given = clock.sleep(SEND_MS * (LONGEST_SEND_MS > 0 ? 1 : 2), over)',
    'alerts: a channel that delivers after its time, and heeds no signal, delivers once',
  ),
  mutant(
    'watch-sends-muted',
    'A muted subject sends messages.',
    'watch/reconcile.ts',
    'const subjects = all.filter(({ name }) => !isMuted(rule, name, mutes))',
    'const subjects = all.filter(({ name }) => !isMuted(rule, name, []))',
    'alerts: a muted subject sends nothing, and is reported once it is unmuted',
  ),
  mutant(
    'watch-missed-lately',
    'What was missed hours before the fleet came back is not reported.',
    'watch/looks.ts',
    'from: since - LONGEST_OUTAGE_MS,',
    'from: since - LOOKED_BACK_MS,',
    'fires for a daily due time that was lost hours before the fleet came back',
  ),
  mutant(
    'watch-store-by-probes',
    'Probes, which wait in the store on purpose, count as slow calls.',
    'watch/store-watch.ts',
    'if (operation === WAITS) return',
    'if (operation.length === 0) return',
    'does not fire for probes of peers, which wait on purpose',
  ),
  mutant(
    'watch-waits-for-ever',
    'A look that the store never answers is the last one.',
    'watch/watcher.ts',
    'await this.#inTime(this.#look())',
    'await this.#look()',
    'takeover: goes on after a look that was never answered',
  ),
  mutant(
    'watch-writes-stale',
    'An instance that watched before ends what its successor has reported.',
    'watch/watcher.ts',
    'return isStale ? null : next(record, now)',
    'return next(record, now)',
    'takeover: that was drained in a look does not end what its successor has reported meanwhile',
  ),
  mutant(
    'watch-gathers-by-a-wrong-clock',
    'A message waits until a clock that was set back has caught up.',
    'model/alert.ts',
    'return isSetBack(at, now) ? 0 : sendAt - now',
    'return sendAt - now',
    'takeover: before a message is sent: it is sent all the same',
  ),
  mutant(
    'watch-repeats-by-a-wrong-clock',
    'An alert is not repeated until a clock that was set back has caught up.',
    'watch/reconcile.ts',
    'known !== undefined && isSetBack(known.messageAt, now)',
    'known !== undefined && isSetBack(known.messageAt, known.messageAt)',
    'takeover: an alert that goes on is repeated as before',
  ),
  mutant(
    'watch-resolves-unseen',
    'A new watcher calls over what it has not looked at.',
    'watch/reconcile.ts',
    'isOpen && (mayResolve || known.count <= MOST_SUBJECTS)',
    'isOpen',
    'reconcile: not one that only counts some of them',
  ),
  mutant(
    'watch-resolves-late',
    'A new watcher calls nothing over before it has looked at every schedule.',
    'watch/reconcile.ts',
    'isOpen && (mayResolve || known.count <= MOST_SUBJECTS)',
    'isOpen && mayResolve',
    'reconcile: an alert that lists all its subjects',
  ),
  mutant(
    'watch-suspects-unbounded',
    'Every schedule of which something ended badly waits in memory for a look.',
    'watch/looks.ts',
    'if (known === undefined && this.#suspects.size >= MOST_SUSPECTS) return',
    '',
    'reconcile: what is kept of ends until their schedules are looked at is bounded, and has no contents',
  ),
  mutant(
    'watch-keeps-contents',
    'Inputs and results of what ended wait in memory for a look.',
    'watch/looks.ts',
    'const input = job === DETECT_JOB ? end.input : null',
    'const input = end.input',
    'reconcile: what is kept of ends until their schedules are looked at is bounded, and has no contents',
  ),
]
