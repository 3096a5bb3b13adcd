/** What users see on a Node.js that is too old: which one is needed, which one runs, what to do. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { demand, runFailing } from './run.ts'

const EXPECTED = /cronce needs Node\.js 22\.18 or later, but this is (\d+\.\d+\.\d+)\.[\s\S]*Install Node\.js 24/
/** Need nothing that only a newer Node.js has, or are used with `cronce`, which says so. */
const ANYWHERE = ['cronce/cron', '@cronce/audit', '@cronce/checker', '@cronce/queues', '@cronce/queues/bullmq']

/** `null`: this machine has none. */
export function findOldNode(): string | null {
  const { PATH = '' } = process.env
  const folders = [...PATH.split(delimiter), '/usr/local/bin', '/usr/bin']
  const found = folders.map((folder) => join(folder, 'node')).filter((file) => existsSync(file))
  return found.find(isOld) ?? null
}

/** Below 22.18, and able to load ES modules by `require()`: other versions report by themselves that they cannot. */
function isOld(node: string): boolean {
  const [major = 0, minor = 0] = execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1).split('.').map(Number)
  return (major === 22 && minor >= 12 && minor < 18) || (major === 20 && minor >= 19)
}

export async function checkOldNode(home: string, node: string, paths: readonly string[]): Promise<void> {
  for (const path of paths.filter((each) => !ANYWHERE.includes(each))) {
    await expectMessage(home, node, '--input-type=module', '-e', `import '${path}'`)
    await expectMessage(home, node, '--input-type=commonjs', '-e', `require('${path}')`)
  }
  for (const name of ['cronce', '@cronce/cli'])
    await expectMessage(home, node, join(home, 'node_modules', name, 'bin', 'cronce.js'), 'list')
}

async function expectMessage(home: string, node: string, ...args: string[]): Promise<void> {
  const told = await runFailing(home, node, ...args)
  demand(EXPECTED.test(told), `${node} ${args.join(' ')} says:\n${told}`)
}
