import { NAME_LIMIT, plain } from './as-code.ts'

/** What Kubernetes, Temporal and others call the same thing. */
export const OVERLAP_WORDS: Readonly<Record<string, string>> = {
  forbid: 'queue',
  none: 'skip',
  never: 'skip',
  prevent: 'skip',
  drop: 'skip',
  ignore: 'skip',
  buffernone: 'skip',
  disallow: 'skip',
  false: 'skip',
  bufferone: 'queue',
  buffer: 'queue',
  wait: 'queue',
  serial: 'queue',
  enqueue: 'queue',
  bufferall: 'queue-all',
  queueall: 'queue-all',
  allowall: 'allow',
  parallel: 'allow',
  concurrent: 'allow',
  always: 'allow',
  true: 'allow',
  cancel: 'replace',
  cancelother: 'replace',
  terminateother: 'replace',
  cancelprevious: 'replace',
  restart: 'replace',
  kill: 'replace',
}

/** With Forbid, Kubernetes starts the latest Job that came due meanwhile when the earlier one ends. */
export const FORBID =
  "Write overlap: 'queue', which starts the latest fire late as Kubernetes does, or overlap: 'skip'."

export const MISFIRE_WORDS: Readonly<Record<string, string>> = {
  last: 'latest',
  newest: 'latest',
  recent: 'latest',
  mostrecent: 'latest',
  once: 'latest',
  one: 'latest',
  coalesce: 'latest',
  runonce: 'latest',
  fireonce: 'latest',
  fireoncenow: 'latest',
  fireandproceed: 'latest',
  true: 'latest',
  none: 'skip',
  ignore: 'skip',
  never: 'skip',
  drop: 'skip',
  donothing: 'skip',
  discard: 'skip',
  false: 'skip',
  every: 'all',
  each: 'all',
  catchup: 'all',
  runall: 'all',
  fireall: 'all',
  ignoremisfirepolicy: 'all',
}

const GUARANTEE_WORDS: Readonly<Record<string, string>> = {
  once: 'exactly-once',
  exactlyonce: 'exactly-once',
  effectivelyonce: 'exactly-once',
  transactional: 'exactly-once',
  atleastonce: 'at-least-once',
  atmostonce: 'at-most-once',
  besteffort: 'at-most-once',
}

const CHOICE_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  overlap: OVERLAP_WORDS,
  'overlap.kind': OVERLAP_WORDS,
  misfire: MISFIRE_WORDS,
  'misfire.late': MISFIRE_WORDS,
  missed: MISFIRE_WORDS,
  guarantee: GUARANTEE_WORDS,
}

/** What to write for another scheduler's word; `write` spells the option with a choice. */
export function choiceHint(
  path: string,
  value: unknown,
  choices: readonly string[],
  write: (choice: string) => string,
): string | undefined {
  const meant = choiceMeant(path, value, choices)
  if (meant === undefined) return undefined
  return path === 'overlap' && plain(String(value)) === 'forbid' ? FORBID : `Write ${write(meant)}.`
}

function choiceMeant(path: string, value: unknown, choices: readonly string[]): string | undefined {
  const words = CHOICE_WORDS[path]
  if (words === undefined || (typeof value !== 'string' && typeof value !== 'boolean')) return undefined
  const word = plain(String(value).slice(0, NAME_LIMIT))
  const meant = Object.hasOwn(words, word) ? words[word] : undefined
  return choices.find((choice) => choice === meant)
}
