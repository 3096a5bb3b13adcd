export interface SarifFinding {
  readonly rule: string
  /** What the rule is about. */
  readonly about: string
  readonly level: string
  /** `src/jobs.ts:12`. */
  readonly place: string
  readonly message: string
}

interface Log {
  readonly runs?: readonly {
    readonly tool?: { readonly driver?: { readonly rules?: readonly Rule[] } }
    readonly results?: readonly Result[]
  }[]
}

interface Rule {
  readonly id: string
  readonly shortDescription?: { readonly text?: string }
}

interface Result {
  readonly ruleId?: string
  readonly level?: string
  readonly message?: { readonly text?: string }
  readonly locations?: readonly {
    readonly physicalLocation?: {
      readonly artifactLocation?: { readonly uri?: string }
      readonly region?: { readonly startLine?: number }
    }
  }[]
}

const LEVELS = ['error', 'warning', 'note', 'none']

/** The findings of a SARIF 2.1 report, errors first. Throws if it is none. */
export function readSarif(text: string): readonly SarifFinding[] {
  const { runs } = parse(text)
  if (!Array.isArray(runs)) throw new Error('This is not a SARIF report: it has no runs.')
  const findings = (runs as NonNullable<Log['runs']>).flatMap(({ tool, results = [] }) => {
    const rules = new Map(tool?.driver?.rules?.map((rule) => [rule.id, rule.shortDescription?.text ?? '']))
    return results.map((result) => findingOf(result, rules))
  })
  return findings.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}

function parse(text: string): Log {
  try {
    return (JSON.parse(text) as Log | null) ?? {}
  } catch {
    throw new Error('This file is not JSON.')
  }
}

function findingOf(
  { ruleId = 'unknown', level = 'warning', message, locations }: Result,
  rules: ReadonlyMap<string, string>,
): SarifFinding {
  const { artifactLocation, region } = locations?.[0]?.physicalLocation ?? {}
  const line = region?.startLine === undefined ? '' : `:${region.startLine}`
  return {
    rule: ruleId,
    about: rules.get(ruleId) ?? '',
    level,
    place: `${artifactLocation?.uri ?? '?'}${line}`,
    message: message?.text ?? '',
  }
}
