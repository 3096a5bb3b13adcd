import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { demand, run } from './run.ts'

const FILE = 'my-store.test.ts'
/** Without any of them the suite would pass, too. */
const MIN_RULES = 250

/** What an author of a store does: the example of the README compiles against the packed types, and its store passes the suite. */
export async function checkConformance(
  home: string,
  readme: string,
  compilers: readonly (readonly string[])[],
): Promise<void> {
  const [, code = ''] = /^```ts\n([\s\S]*?)^```/m.exec(readme) ?? []
  demand(code.includes('describeStore('), 'The README of @cronce/conformance has no example')
  writeFileSync(join(home, FILE), code)
  for (const [command, ...args] of compilers) await run(home, command!, ...args, FILE)
  const printed = await run(home, 'node', '--test', '--test-reporter=tap', FILE)
  const passed = Number(/^# pass (\d+)$/m.exec(printed)?.[1] ?? 0)
  demand(passed >= MIN_RULES, `The README of @cronce/conformance: ${passed} rules passed, not ${MIN_RULES} or more`)
}
