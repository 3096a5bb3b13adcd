/** Work that goes on where the last success ended: nothing is read twice or left out, however often it failed between. */
import { cronce } from 'cronce'

const app = cronce({ store: 'memory:', logger: false })
let runs = 0

app.job('sync', { every: '500ms' }, async (run) => {
  const since = run.previous.succeededDueAt ?? run.fire.dueAt - 500
  const missing = (run.fire.dueAt - since) / 500
  if (++runs === 2) throw new Error('the other side is down')
  console.log(`${missing} half seconds to read`)
  if (runs === 3) void app.stop()
})
app.on('run.ended', ({ error }) => error !== null && console.log(error.message))

await app.start()

/* prints
1 half seconds to read
the other side is down
2 half seconds to read
*/
