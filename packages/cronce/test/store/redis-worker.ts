// An instance in its own process, whose runs never end: it reports when the first has begun, and waits to be killed.
import { cronce } from '../../src/index.ts'
import { redis } from '../../src/store/redis/redis.ts'

const app = cronce({ store: redis(process.argv[2]!), app: 'shop', deployment: 'one', logger: false })
app.job('stuck', {}, async ({ fire }) => {
  process.send!(fire.schedule)
  await new Promise(() => {})
})
await app.start()
process.send!('started')
