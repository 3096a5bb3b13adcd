import type { AskScript } from './moment.ts'
import { PRUNE } from './scripts.ts'

/** How many scripts one call runs. Only a call that has deleted nothing yet continues: callers take 0 as the end. */
const MOST_SCRIPTS = 20

/** Each script looks at a bounded number of lines, since the server serves no other client meanwhile. */
export async function prune(ask: AskScript, limit: number): Promise<number> {
  let deleted = 0
  for (let scripts = 0; deleted === 0 || (deleted < limit && scripts < MOST_SCRIPTS); scripts++) {
    const { lines } = await ask(PRUNE, [String(limit - deleted)])
    deleted += Number(lines[0])
    if (lines[1] !== '1') break
  }
  return deleted
}
