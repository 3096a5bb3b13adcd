/** A metric with its values, as every format of a scrape needs it. */
export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

/** One value. `name`: of a histogram's bucket, sum or count; otherwise that of the metric. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The format that Prometheus and all that read it accept. */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The text of a scrape. */
export function exposition(families: readonly Family[]): string {
  return families.map(textOf).join('')
}

function textOf({ name, type, help, samples }: Family): string {
  const lines = samples.map((sample) => `${sample.name}${labelsOf(sample)} ${numberOf(sample.value)}\n`)
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function labelsOf({ labels }: Sample): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join()}}`
}

function numberOf(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
