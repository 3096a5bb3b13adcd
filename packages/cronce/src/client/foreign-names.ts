import { asCode, inUnit, NAME_LIMIT, plain } from './as-code.ts'
import { FORBID, MISFIRE_WORDS, OVERLAP_WORDS } from './choice-words.ts'
import { instantHint, isInstant } from './instant-meant.ts'

/** What to write for a value that was given under another name. */
export type Hint = (value: unknown) => string

/** Names that mean the same here, separated by spaces, and what to write instead. Lower case, without `_` and `-`. */
export type Row = readonly [names: string, hint: Hint]

/** `Write tz: 'Europe/Paris'.` */
function rename(option: string): Hint {
  return (value) => `Write ${option}: ${asCode(value)}.`
}

/** The same for an instant, in a form that the option accepts. */
function instant(option: string): Hint {
  return (value) => (isInstant(value) ? rename(option)(value) : instantHint(option, value))
}

/** The same, where the other name counts in seconds. */
function inSeconds(option: string): Hint {
  return (value) => `Write ${option}: ${inUnit(value, 's')}.`
}

function nested(outer: string, inner: string): Hint {
  return (value) => `Write ${outer}: { ${inner}: ${asCode(value)} }.`
}

function nestedSeconds(outer: string, inner: string): Hint {
  return (value) => `Write ${outer}: { ${inner}: ${inUnit(value, 's')} }.`
}

function say(hint: string): Hint {
  return () => hint
}

/** Where the other name also counts the first run. */
const runsInAll: Hint = (value) =>
  typeof value === 'number' && value >= 1
    ? `The option retry counts the runs after a failed first one. For ${value} runs in all write retry: ${value - 1}.`
    : 'The option retry counts the runs after a failed first one. Write retry: 2 for 3 runs in all.'

const noOverlap: Hint = (value) =>
  value === false || value === 'false'
    ? "Write overlap: 'allow'."
    : "Leave it out: overlap: 'skip' is the default, and holds for all instances."

function policyHint(option: 'overlap' | 'misfire', words: Readonly<Record<string, string>>, otherwise: string): Hint {
  return (value) => {
    const word = plain(String(value).slice(0, NAME_LIMIT))
    const choice = Object.hasOwn(words, word)
      ? words[word]
      : Object.values(words).find((known) => plain(known) === word)
    return option === 'overlap' && word === 'forbid' ? FORBID : `Write ${option}: '${choice ?? otherwise}'.`
  }
}

const RETENTION: Hint = say("Write retention: '7d', or retention: { keep: '7d', count: 100 }.")

/** Names that other schedulers use for the options of a job or schedule. */
export const JOB_ROWS: readonly Row[] = [
  ['timezone zone timezonename tzname tzid timezoneid', rename('tz')],
  ['utcoffset offset gmtoffset', say("Write tz: 'Europe/Paris', or a fixed offset: tz: '+02:00'.")],
  [
    'schedule pattern expression crontime cronexpression crontab cronschedule cronpattern rule spec scheduleexpression when',
    rename('cron'),
  ],
  ['repeat trigger', say("Write cron: '0 3 * * *' or every: '5m'.")],
  ['interval frequency period repeatevery repeatinterval runevery', rename('every')],
  ['rate', say("Write every: '5m'.")],
  ['date datetime runat time nextrun nextrunat nextruntime eta fireat scheduledat', instant('at')],
  ['once', say("Write at: '2027-01-01T00:00:00Z' for a schedule with one due time.")],
  ['delay countdown', say('Write start, the first instant at which it may be due, or at for one due time.')],
  ['startat startdate starttime startafter notbefore from validfrom', instant('start')],
  ['endat enddate endtime stopat until expiresat notafter validuntil', instant('end')],
  ['maxruns maxexecutions repeatcount times maxfires', rename('limit')],
  [
    'retries maxretries retrylimit retrycount numretries backofflimit maxretryattempts maximumretryattempts',
    rename('retry'),
  ],
  ['attempts maxattempts maximumattempts tries maxtries', runsInAll],
  ['backoff backoffpolicy', say("Write retry: { attempts: 3, backoff: { base: '1s', cap: '5m' } }.")],
  ['retrydelay retryinterval retrywait minbackoff', say("Write retry: { attempts: 3, backoff: { base: '10s' } }.")],
  ['retryif shouldretry retryon onfailedattempt', say('Write retry: { attempts: 3, if: (error) => … }.')],
  [
    'retrypolicy retryconfig retryoptions retrybackoff',
    say("Write retry: { attempts: 3, backoff: { base: '1s', cap: '5m' } }."),
  ],
  ['crashes', (value) => `Write retry: { crashes: ${asCode(value)} }.`],
  ['deadline', (value) => `Write retry: { attempts: 3, deadline: ${asCode(value)} }, or timeout for one run.`],
  [
    'nooverlap preventoverrun waitforcompletion protect singleton singletonkey unique exclusive nonconcurrent disallowconcurrent withoutoverlapping preventoverlap',
    noOverlap,
  ],
  ['concurrencypolicy overlappolicy onoverlap overrun', policyHint('overlap', OVERLAP_WORDS, 'skip')],
  ['allowoverlap concurrent allowconcurrent', (value) => `Write overlap: '${value === false ? 'skip' : 'allow'}'.`],
  ['maxinstances maxconcurrency parallelism maxrunning concurrencylimit workers', rename('concurrency')],
  ['queue', say("Write group: { name: 'reports', limit: 4 } for a limit that jobs share, or overlap: 'queue'.")],
  [
    'misfirepolicy misfirehandling misfireinstruction onmisfire missed onmissed',
    policyHint('misfire', MISFIRE_WORDS, 'latest'),
  ],
  [
    'catchup catchupmissed recovermissedexecutions recovermissed backfill',
    (value) => `Write misfire: '${value === false ? 'skip' : 'all'}'.`,
  ],
  ['coalesce', (value) => `Write misfire: '${value === false ? 'all' : 'latest'}'.`],
  ['misfiregracetime', nestedSeconds('misfire', 'grace')],
  ['misfirethreshold', nested('misfire', 'grace')],
  [
    'grace graceperiod',
    say("Write misfire: { grace: '10s' } for late fires, or timeout: { run: '1h', grace: '10s' }."),
  ],
  ['startingdeadlineseconds catchupwindow backfillperiod', nestedSeconds('misfire', 'window')],
  ['late', nested('misfire', 'late')],
  ['window', nested('misfire', 'window')],
  [
    'maxduration maxruntime maxexecutiontime timelimit starttoclosetimeout executiontimeout jobtimeout attemptdeadline duration',
    rename('timeout'),
  ],
  ['activedeadlineseconds expireinseconds timeoutseconds', inSeconds('timeout')],
  [
    'locklifetime lockduration lockttl lockatmostfor lockatleastfor lock',
    say('Leave it out: instances hold a lease. Set its length in cronce({ lease }), and the longest run in timeout.'),
  ],
  [
    'ttl expires expiry expirein',
    say("For how long a run may take write timeout: '1h'; for how long the record is kept write retention: '7d'."),
  ],
  [
    'removeoncomplete removeonfail ttlsecondsafterfinished successfuljobshistorylimit failedjobshistorylimit historylimit history keep count retentiondays keepuntil retentionseconds deleteafter',
    RETENTION,
  ],
  ['splay randomdelay maxrandomdelay spread randomize flexibletimewindow', rename('jitter')],
  [
    'pauseonfailure maxfailures maxconsecutivefailures disableafter',
    (value) => `Write pauseAfter: ${typeof value === 'number' ? value : 1}.`,
  ],
  [
    'runoninit runonstart runonstartup runimmediately immediate immediately fireontick fireonstart runnow executeonstart startnow',
    say('Leave it out, and call await app.schedules.trigger(name) after start() to run the job at once.'),
  ],
  [
    'enabled disabled scheduled suspend suspended paused active autostart',
    say('Leave it out, and use await app.schedules.pause(name) and resume(name).'),
  ],
  ['name id key jobid jobname jobkey', say('The name is the first argument: app.job(name, options, handler).')],
  [
    'handler run fn func callback task execute action ontick process processor worker work perform do method function',
    say('The function is the last argument: app.job(name, options, async (run) => { … }).'),
  ],
  ['data payload args arguments params body context meta metadata', rename('input')],
  ['inputschema validate validator parser', rename('schema')],
  [
    'path',
    (value) =>
      typeof value === 'string' && value.includes('://') ? 'Write http: { url: … }.' : `Write file: ${asCode(value)}.`,
  ],
  ['url uri endpoint webhook', (value) => `Write http: { url: ${asCode(value)} } instead of a handler.`],
  ['cmd exec script shellcommand', (value) => `Write command: [${asCode(value)}] instead of a handler.`],
  ['filename module', rename('file')],
  ['isolation sandbox thread', say("Write file: './task.js', isolate: 'thread' (or 'process').")],
  [
    'priority',
    say('Leave it out: fires start in the order of their due times. Limit what may wait with concurrency or group.'),
  ],
  ['exactlyonce idempotent', say("Write guarantee: 'exactly-once'.")],
  ['delivery semantics', rename('guarantee')],
  ['gap', (value) => `Write cron: { expression: '…', gap: ${asCode(value)} }.`],
  ['wrap', (value) => `Write cron: { expression: '…', wrap: ${asCode(value)} }.`],
  ['anchor phase', (value) => `Write every: { interval: '1h', anchor: ${asCode(value)} }.`],
  ['oldname previousname renamedfrom aliases', rename('was')],
  [
    'onerror errorhandler catch oncomplete onsuccess onfailure',
    say("Leave it out, and listen: app.on('run.ended', ({ outcome, error }) => …)."),
  ],
  ['milliseconds', (value) => `Write every: ${inUnit(value, 'ms')}.`],
  ['seconds', (value) => `Write every: ${inUnit(value, 's')}.`],
  ['minutes', (value) => `Write every: ${inUnit(value, 'm')}.`],
  ['hours', (value) => `Write every: ${inUnit(value, 'h')}.`],
  ['oncalendar', say("Write cron: '0 3 * * *': systemd's calendar format is not a cron expression.")],
  ['onunitactivesec onactivesec fixedratestring', rename('every')],
  ['persistent', (value) => `Write misfire: '${value === false ? 'skip' : 'latest'}'.`],
  ['randomizeddelaysec', inSeconds('jitter')],
  ['fixedrate', (value) => `Write every: ${inUnit(value, 'ms')}.`],
  [
    'fixeddelay',
    (value) => `Write every: ${inUnit(value, 'ms')}: due times do not depend on when the run before ended.`,
  ],
  ['initialdelay', say("Write start: '2027-01-01T00:00:00Z', the first instant at which it may be due.")],
  ['teamsize teamconcurrency localconcurrency', rename('concurrency')],
  ['hasseconds', say('Leave it out: an expression with six fields begins with seconds.')],
  ['skipimmediate', say('Leave it out: a job does not run when the app starts, only at its due times.')],
  ['tags tag labels', say("Leave it out: give such jobs a prefix, such as 'mail:weekly'. Commands take --prefix.")],
  ['description label title', say('Leave it out: a job has a name and no description.')],
]

/** Names that other schedulers use for the options of commands such as `trigger` and `pause`. */
export const COMMAND_ROWS: readonly (readonly [option: string, names: string])[] = [
  ['input', 'data payload args params body'],
  ['dedupe', 'key idempotencykey jobid jobkey id dedupekey deduplicationid singletonkey'],
  ['author', 'user by actor who'],
  ['note', 'reason comment message description why'],
  ['until', 'end till for resumeat'],
  ['missed', 'misfire catchup'],
]

/** Names that other schedulers use for the options of the app. */
export const APP_ROWS: readonly Row[] = [
  [
    'url uri db database databaseurl connection connectionstring dsn redis redisurl pg postgres postgresql sqlite backend storage adapter client pool driver datasource uristring connect persistence',
    say("Write store: 'postgres://…', 'redis://…' or 'sqlite:FILE', or what postgres(), redis() or sqlite() returns."),
  ],
  ['schema', say("Write store: postgres(url, { schema: 'jobs' }).")],
  ['ns prefix keyprefix queueprefix queue tenant', rename('namespace')],
  ['name appname service servicename application program', rename('app')],
  ['version release commit sha build deploymentid revision', rename('deployment')],
  [
    'maxconcurrency workers parallelism threads poolsize limit maxworkers maxruns maxconcurrent defaultconcurrency',
    rename('concurrency'),
  ],
  [
    'leasetime leasems lockduration lockttl ttl heartbeat heartbeatinterval visibilitytimeout locktimeout locklifetime lockatmostfor stalledinterval',
    rename('lease'),
  ],
  [
    'shutdowntimeout gracefulshutdowntimeout graceperiod draintimeout stoptimeout closetimeout gracems grace',
    rename('drain'),
  ],
  ['terminationgraceperiodseconds', inSeconds('drain')],
  [
    'log logging loglevel verbose silent quiet debug',
    say('Write logger: false for no lines at all, or logger: console.'),
  ],
  ['handlesignals gracefulshutdown shutdownonsignals exitonsignal trapsignals', rename('signals')],
  ['unref', (value) => `Write keepAlive: ${value === false}.`],
  [
    'timezone zone defaulttimezone tz',
    (value) => `A time zone belongs to a job: app.job(name, { cron: '0 3 * * *', tz: ${asCode(value)} }, handler).`,
  ],
  [
    'jobs tasks schedules crons crontab cron',
    say("Declare each job: app.job('report', '0 3 * * *', async (run) => { … })."),
  ],
  [
    'pollinterval pollingintervalms pollingintervalseconds processevery interval tick polling',
    say('Leave it out: an instance sleeps until the next due time, and the store wakes it.'),
  ],
  ['autostart start', say('Leave it out, and call await app.start().')],
]

/** What other libraries write into our nested options. */
export const NESTED_ROWS: Readonly<Record<string, readonly Row[]>> = {
  retry: [
    [
      'maxattempts maximumattempts tries',
      (value) =>
        typeof value === 'number'
          ? `attempts counts the runs after a failed first one. For ${value} runs in all write retry: { attempts: ${Math.max(0, value - 1)} }.`
          : 'Write retry: { attempts: 2 } for 3 runs in all.',
    ],
    ['retries maxretries limit count times max', nested('retry', 'attempts')],
    [
      'delay base mintimeout mintimeoutinms initialdelay initialinterval interval wait min',
      (value) => `Write retry: { attempts: 3, backoff: { base: ${asCode(value)} } }.`,
    ],
    [
      'maxdelay cap maxtimeout maxtimeoutinms maximuminterval',
      (value) => `Write retry: { attempts: 3, backoff: { cap: ${asCode(value)} } }.`,
    ],
    [
      'factor multiplier exponent backoffcoefficient',
      (value) => `Write retry: { attempts: 3, backoff: { factor: ${asCode(value)} } }.`,
    ],
    ['jitter randomize', say('Write retry: { attempts: 3, backoff: { jitter: 0.5 } }.')],
    ['on when shouldretry retryif filter', say('Write retry: { attempts: 3, if: (error) => … }.')],
    ['timeout maxretrytime', nested('retry', 'deadline')],
  ],
  'retry.backoff': [
    ['delay initial min mintimeout initialdelay start', (value) => `Write backoff: { base: ${asCode(value)} }.`],
    ['max maxdelay maxtimeout limit', (value) => `Write backoff: { cap: ${asCode(value)} }.`],
    ['multiplier exponent rate', (value) => `Write backoff: { factor: ${asCode(value)} }.`],
    [
      'type strategy kind',
      (value) =>
        value === 'fixed' || value === 'linear' || value === 'constant'
          ? "Write backoff: { base: '10s', factor: 1, jitter: 0 } for equal delays."
          : 'Leave it out: the delays grow by factor, from base to cap.',
    ],
    ['random randomize', say('Write backoff: { jitter: 0.5 }.')],
  ],
  overlap: [
    ['policy type strategy mode', (value) => `Write overlap: { kind: ${asCode(value)} }.`],
    ['max concurrency', nested('overlap', "kind: 'allow', limit")],
  ],
  misfire: [
    ['policy type strategy mode kind', nested('misfire', 'late')],
    ['max count', nested('misfire', "late: 'all', limit")],
    ['threshold tolerance', nested('misfire', 'grace')],
    ['deadline maxage lookback since', nested('misfire', 'window')],
  ],
  timeout: [['ms duration after limit max value', nested('timeout', 'run')]],
  jitter: [['ms max upto value duration', nested('jitter', 'within')]],
  retention: [
    ['days', (value) => `Write retention: ${inUnit(value, 'd')}.`],
    ['age ttl for duration time maxage', nested('retention', 'keep')],
    ['max limit entries', nested('retention', 'count')],
  ],
  group: [
    ['id key', nested('group', 'name')],
    ['concurrency max size', (value) => `Write group: { name: 'reports', limit: ${asCode(value)} }.`],
  ],
  cron: [
    ['pattern schedule cron crontime cronexpression', (value) => `Write cron: { expression: ${asCode(value)} }.`],
    ['timezone zone', (value) => `Write cron: { expression: '0 3 * * *', tz: ${asCode(value)} }.`],
  ],
  every: [
    ['ms milliseconds', (value) => `Write every: ${inUnit(value, 'ms')}.`],
    ['seconds', (value) => `Write every: ${inUnit(value, 's')}.`],
    ['minutes', (value) => `Write every: ${inUnit(value, 'm')}.`],
    ['hours', (value) => `Write every: ${inUnit(value, 'h')}.`],
    ['days', (value) => `Write every: ${inUnit(value, 'd')}.`],
    ['every duration', nested('every', 'interval')],
  ],
}
