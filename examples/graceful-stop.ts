/** SIGTERM, as a deploy sends it: nothing new is begun, the run that goes on may finish, then the process ends by the signal. */
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from 'cronce'

const app = cronce({ store: 'sqlite:./cronce-graceful-stop.db', drain: '10s' })

app.job('import', { every: '1s' }, async (run) => {
  console.log('began')
  process.kill(process.pid, 'SIGTERM')
  // Aborted when `drain` is over: then the fire is handed back, for another instance to run.
  await sleep(1_500, undefined, { signal: run.signal })
  console.log('finished')
})
app.on('fire.ended', ({ outcome }) => console.log(outcome))
app.on('instance.left', () => console.log('left the fleet'))

await app.start()

/* prints, and ends by SIGTERM
began
finished
succeeded
left the fleet
*/
