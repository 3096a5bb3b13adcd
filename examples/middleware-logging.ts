/** Something around every run: here a line per run, with how long it took. Tracing and metrics are made the same way. */
import { cronce, type Middleware } from 'cronce'

const app = cronce({ store: 'memory:', logger: false })
let running = 2

const timed: Middleware = async (run, next) => {
  const startedAt = performance.now()
  try {
    const result = await next()
    console.log(`${run.fire.job} ok, took time: ${performance.now() > startedAt}`)
    return result
  } catch (error) {
    console.log(`${run.fire.job} failed: ${(error as Error).message}`)
    throw error // or the run would have succeeded
  } finally {
    if (--running === 0) void app.stop()
  }
}

app.use(timed)
app.job('good', { every: '1s', limit: 1 }, () => 'a result')
app.job('bad', { every: '1s', limit: 1, jitter: { within: 1, kind: 'fixed' } }, () => {
  throw new Error('no luck')
})

await app.start()

/* prints, in any order
good ok, took time: true
bad failed: no luck
*/
