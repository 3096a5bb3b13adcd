import { cronce } from '../../src/app/cronce.ts'
import type { Execution } from '../../src/model/event.ts'

const [store, action] = process.argv.slice(2) as [string, 'report' | 'refuse']
const app = cronce({ store, signals: false, logger: false })
const found: (readonly [first: Execution, second: Execution])[] = []
app.on('execution.duplicated', ({ first, second }) => found.push([first, second]))

// All processes begin when the last of them is ready.
process.once('message', async () => {
  let executed = 0
  await app.detect('legacy', { window: '1h', action }, () => {
    executed++
  })
  process.send!({ pid: process.pid, executed, found })
  await app.stop()
  process.disconnect()
})
process.send!('ready')
