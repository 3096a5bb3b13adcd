import { calendarParts } from './systemd-calendar.ts'

const TIMER =
  'OnActiveSec OnBootSec OnStartupSec OnUnitActiveSec OnUnitInactiveSec OnCalendar AccuracySec RandomizedDelaySec FixedRandomDelay RandomizedOffsetSec DeferReactivation OnClockChange OnTimezoneChange Unit Persistent WakeSystem RemainAfterElapse'
const UNIT =
  'Description Documentation Wants Requires Requisite BindsTo BindTo PartOf Upholds Conflicts Before After OnFailure OnSuccess PropagatesReloadTo ReloadPropagatedFrom PropagatesStopTo StopPropagatedFrom JoinsNamespaceOf RequiresMountsFor WantsMountsFor OnSuccessJobMode OnFailureJobMode IgnoreOnIsolate StopWhenUnneeded RefuseManualStart RefuseManualStop AllowIsolate DefaultDependencies SurviveFinalKillSignal CollectMode FailureAction SuccessAction FailureActionExitStatus SuccessActionExitStatus JobTimeoutSec JobRunningTimeoutSec JobTimeoutAction JobTimeoutRebootArgument StartLimitIntervalSec StartLimitInterval StartLimitBurst StartLimitAction RebootArgument SourcePath'
const INSTALL = 'Alias WantedBy RequiredBy UpheldBy Also DefaultInstance'

const KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  Timer: new Set(TIMER.split(' ')),
  Unit: new Set(UNIT.split(' ')),
  Install: new Set(INSTALL.split(' ')),
}
const FREE_TEXT = new Set(['Description', 'Documentation'])
const BOOLEANS = new Set([
  'Persistent',
  'WakeSystem',
  'RemainAfterElapse',
  'FixedRandomDelay',
  'OnClockChange',
  'OnTimezoneChange',
])
const BOOLEAN = /^(?:1|0|yes|no|true|false|on|off|y|n|t|f)$/i
const SPAN =
  /^(?:infinity|(?:\d+(?:\.\d+)?\s*(?:usec|us|µs|msec|ms|seconds?|sec|s|minutes?|min|months?|M|m|hours?|hr|h|days?|d|weeks?|w|years?|y)?\s*)+)$/

interface Setting {
  readonly section: string
  readonly key: string
  readonly value: string
}

/** Why systemd ignores a setting of a timer, or `null`. A value with holes is not judged. */
export function ignoredReason({ section, key, value }: Setting, isCalendar: boolean): string | null {
  const keys = KEYS[section]
  if (keys === undefined || /^X-/.test(key)) return null
  if (!keys.has(key) && !/^(?:Condition|Assert)/.test(key)) return `section [${section}] has no setting \`${key}\``
  if (FREE_TEXT.has(key) || value === '' || /\{\{|\$\{|\$\w|@\w+@|<%|\{%|%\w/.test(value)) return null
  if (/\s[#;]/.test(value)) return `the text after the value is part of it: \`${value}\``
  return section === 'Timer' ? problemOfValue(key, value, isCalendar) : null
}

function problemOfValue(key: string, value: string, isCalendar: boolean): string | null {
  if (key === 'Persistent' && !isCalendar) return '`Persistent` has no effect without `OnCalendar`'
  if (BOOLEANS.has(key)) return BOOLEAN.test(value) ? null : `\`${value}\` is no boolean`
  if (key.endsWith('Sec')) return SPAN.test(value) ? null : `\`${value}\` is no time span`
  return key === 'OnCalendar' && calendarParts(value) === null ? `\`${value}\` is no calendar expression` : null
}
