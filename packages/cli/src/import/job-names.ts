/** Names for jobs that have none: from what they run, the same for the same text. */

const LONGEST = 40

/** Steps that prepare for what the line is about. */
const PREPARES = /^(cd|pushd|test|\[|\[\[|sleep|export|source|\.|umask|set|ulimit|mkdir|command|which|true)$/

/** What runs something else, with the flags of its own that take a value. */
const WRAPS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['nice', ['-n']],
  ['ionice', ['-c', '-n']],
  ['timeout', ['-k', '-s']],
  ['flock', ['-w', '-E']],
  ['env', ['-u']],
  ['sudo', ['-u', '-g']],
  ['doas', ['-u']],
  ['su', ['-s']],
  ['runuser', ['-u', '-s']],
  ['stdbuf', ['-i', '-o', '-e']],
  ['systemd-cat', ['-t', '-p']],
  ...['chronic', 'cronic', 'time', 'nohup', 'exec', 'setsid', 'if', 'then', '!'].map((name) => [name, []] as const),
])
/** Wrappers whose first operand is their own: a duration, a lock. */
const WRAPS_WITH_OPERAND = /^(timeout|flock)$/
const INTERPRETS =
  /^(sh|bash|dash|zsh|ksh|node|nodejs|deno|bun|tsx|ts-node|php[\d.]*|python[\d.]*|ruby|perl|java|Rscript)$/
const EXTENSION = /\.(sh|bash|py|pl|rb|js|mjs|cjs|ts|mts|php|jar|R)$/i

/** `/usr/bin/php /srv/artisan schedule:run >/dev/null` is `artisan-schedule-run`. */
export function slugOfCommand(command: string): string {
  const steps = command.split(/&&|\|\||[;|\n]/).map((step) => unwrap(wordsOf(step)))
  const [first = '', ...operands] =
    steps.find(([head]) => head !== undefined && !PREPARES.test(baseName(head))) ?? steps[0]!
  const more = operands.filter((word) => /^[A-Za-z][\w:.@-]*$/.test(word)).slice(0, 2)
  return slug([baseName(first).replace(EXTENSION, ''), ...more].join('-'), LONGEST) || 'job'
}

/** Lower-case letters, digits and single dashes, cut at a dash where there is one. */
export function slug(text: string, longest: number): string {
  const whole = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  if (whole.length <= longest) return whole
  const cut = whole.slice(0, longest)
  return (cut.includes('-') ? cut.slice(0, cut.lastIndexOf('-')) : cut).replace(/-$/, '')
}

/** Hands out names: the second of a kind gets `-2`. */
export function uniqueNames(): (wanted: string) => string {
  const taken = new Set<string>()
  return (wanted) => {
    let name = wanted
    for (let count = 2; taken.has(name); count++) name = `${wanted}-${count}`
    taken.add(name)
    return name
  }
}

function wordsOf(step: string): string[] {
  const bare = step.replace(/\d*(?:>>|>&|>|<)[ \t]*\S+/g, ' ').replace(/["'`$(){}]/g, ' ')
  return bare.split(/\s+/).filter((word) => word !== '')
}

function unwrap(words: readonly string[]): readonly string[] {
  let rest = words
  for (;;) {
    const [first = ''] = rest
    const name = baseName(first)
    if (/^\w+=/.test(first)) rest = rest.slice(1)
    else if (WRAPS.has(name)) {
      const behind = skipFlags(rest.slice(1), WRAPS.get(name)!)
      // Behind its lock, flock may have a flag -c.
      rest = WRAPS_WITH_OPERAND.test(name) ? skipFlags(behind.slice(1), []) : behind
    } else if (INTERPRETS.test(name)) {
      const behind = skipFlags(rest.slice(1), [])
      return behind.length === 0 ? rest : behind
    } else return rest
  }
}

function skipFlags(words: readonly string[], withValue: readonly string[]): readonly string[] {
  let at = 0
  while (words[at]?.startsWith('-')) at += withValue.includes(words[at]!) ? 2 : 1
  return words.slice(at)
}

function baseName(word: string): string {
  return word.replace(/\/+$/, '').replace(/^.*\//, '')
}
