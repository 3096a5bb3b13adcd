/** A job every second, with its record in a file. Start it twice at once: each second is run by one of the two. */
import { cronce } from 'cronce'

const app = cronce({ store: 'sqlite:./cronce-basic.db' })
let runs = 0

app.job('every-second', { every: '1s' }, (run) => {
  // The instant it stands for, not the time on this machine: all attempts and all instances see the same one.
  const second = new Date(run.fire.dueAt)
  console.log(`on the second: ${second.getUTCMilliseconds() === 0}, attempt ${run.attempt}`)
  // Not awaited: stop() waits for this run.
  if (++runs === 2) void app.stop()
})

await app.start()

/* prints
on the second: true, attempt 1
on the second: true, attempt 1
*/
