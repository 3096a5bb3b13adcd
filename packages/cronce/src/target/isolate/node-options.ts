/** Options of a program of its own: what is watched, tested, evaluated or looked into is the scheduler. */
const NOT_FOR_TASKS =
  /^--?(inspect|debug|test|watch|eval|print|check|interactive|input-type|experimental-test|cpu-prof|heap-prof|e$|p$|c$|i$|pe$)/

/** The options that this Node was started with, as far as a task shall have them: loaders, conditions, flags of V8. */
export function ownOptions(options: readonly string[] = process.execArgv): string[] {
  const kept: string[] = []
  let isLeftOut = false
  for (const option of options) {
    // A value that stands apart belongs to the option before it.
    if (option.startsWith('-')) isLeftOut = NOT_FOR_TASKS.test(option)
    if (!isLeftOut) kept.push(option)
  }
  return kept
}
