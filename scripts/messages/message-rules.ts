import type { Message } from './read-messages.ts'

/** Words that hide the actor, or that the field does not use. */
const UNWANTED =
  /\b(?:whoever|somebody|nobody|anybody|one's own|what became of|is told|can not)\b|(?<!there )\bis no (?!longer\b|such\b|more\b)/i

/** `a` or `an` by the sound of the next word. Values are left out. */
const WRONG_ARTICLE =
  /\ba (?=[aeio]|u(?!ni|[rst]))(?!one\b|once\b|euro)[a-z]+|\ban (?![aeio]|hour|u(?!ni|[rst]))[a-z]+|\ban (?:one|once|uni|us)/

/** A count with its noun is written with `counted`, never `migration(s)`; `1 runs` is a literal mistake. */
const WRONG_PLURAL = /\w\(s\)|\b1 (?!ms\b)[a-z]+[^su ]s\b(?! than)/

/** What a message may begin with: a capital, a value, a sign of a cron expression, a flag, a name as it is written in code. */
const START = /^(?:[\p{Lu}\d…"'`?*#[(@]|--?[\w…]|(?:cronce|node-cron)\b|[\w.]+\()|^[a-z]+\.[a-z.]+ /u
/** A sentence ends; or the text of another error or a command ends it, behind a colon. */
const END = /[.?!]['")]?$|\)$|: [^.]*…$|…$|: (?:cronce|crontab|node|npm|openssl) .+$/

/** The texts of node-cron, word for word: its users match them. */
const OF_NODE_CRON = [
  /^Run coordinator onComplete failed$/,
  /^missed execution at … of …/,
  /^task still running, new execution blocked/,
  /^… is a invalid expression for …$/,
]

export function wordProblems(text: string): readonly string[] {
  if (OF_NODE_CRON.some((known) => known.test(text))) return []
  return [UNWANTED, WRONG_ARTICLE, WRONG_PLURAL].flatMap((rule) => {
    const found = rule.exec(text)
    return found === null ? [] : [`says "${found[0].trim()}"`]
  })
}

/** What is wrong with the form of a message and its hint. */
export function formProblems({ kind, code, level, text, hints }: Message): readonly string[] {
  // The text of a plain error becomes part of a message.
  if (kind === 'plain error' || OF_NODE_CRON.some((known) => known.test(text))) return []
  const needsHint = kind === 'error' || level === 'warn' || level === 'fail'
  return [
    ...(START.test(text) ? [] : ['does not begin with a capital']),
    ...(END.test(text) ? [] : ['does not end with a full stop']),
    ...(needsHint && hints === null ? [`has no hint (${code})`] : []),
    ...(hints ?? []).filter((hint) => !START.test(hint) || !END.test(hint)).map((hint) => `has the hint "${hint}"`),
  ]
}
