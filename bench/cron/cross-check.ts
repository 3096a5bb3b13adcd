import type { LibraryName } from './library.ts'

/** How one library's answers compare with those of the reference, which is ours. */
export interface Comparison {
  readonly library: LibraryName
  readonly compared: number
  readonly differing: number
  /** Index and both answers of the first difference. */
  readonly example: string | undefined
}

export function compareAnswers(
  reference: readonly number[],
  library: LibraryName,
  answers: readonly number[],
): Comparison {
  const compared = Math.min(reference.length, answers.length)
  let differing = 0
  let example: string | undefined
  for (let i = 0; i < compared; i++) {
    if (reference[i] === answers[i]) continue
    differing++
    example ??= `question ${i}: ${iso(reference[i]!)} and ${library} ${iso(answers[i]!)}`
  }
  return { library, compared, differing, example }
}

/**
 * Questions on which all other libraries agree with each other and not with the reference. Around zone changes a single
 * difference means little, but being alone is worth a look.
 */
export function alone(reference: readonly number[], others: readonly (readonly number[])[]): number[] {
  const compared = Math.min(reference.length, ...others.map((answers) => answers.length))
  const [first, ...rest] = others
  if (first === undefined || rest.length === 0) return []
  const questions: number[] = []
  for (let i = 0; i < compared; i++) {
    if (first[i] !== reference[i] && rest.every((answers) => answers[i] === first[i])) questions.push(i)
  }
  return questions
}

function iso(instant: number): string {
  return instant < 0 ? 'none' : new Date(instant).toISOString()
}
