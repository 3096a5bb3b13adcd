import { FLT008 } from '../../src/rules/flt008.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT008, {
  bad: {
    'a helper that frees in finally': {
      'cronLock.js':
        'export async function withCronLock(name, work) {\n  if (!(await acquireCronLock(name))) return\n  try {\n    await work()\n  } finally {\n    await releaseCronLock(name) // <<\n  }\n}\n',
    },
    'a wrapper that returns the handler': {
      'cronLock.js':
        'const acquire = async (name) => Lock.findOneAndUpdate({ name }, { $set: { owner } })\nconst release = async (name) => Lock.deleteOne({ name, owner })\nexport const withLock = (name, fn) => async () => {\n  if (!(await acquire(name))) return\n  try {\n    return await fn()\n  } finally {\n    await release(name) // <<\n  }\n}\n',
    },
    'the handler itself': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nexport class Jobs {\n  @Cron('0 * * * *')\n  async run() {\n    if (!(await this.locks.acquireLock('run'))) return\n    try {\n      await this.mailer.send()\n    } finally {\n      await this.locks.releaseLock('run') // <<\n    }\n  }\n}\n",
    },
    'an advisory lock': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => {\n  const client = await pool.connect()\n  await client.query('SELECT pg_try_advisory_lock(1)')\n  await send()\n  await client.query('SELECT pg_advisory_unlock(1)') // <<\n})\n",
    },
  },
  good: {
    'a key with the slot': {
      'cronLock.js':
        'export async function withCronLock(name, work) {\n  if (!(await acquireCronLock(`${name}:${slot}`))) return\n  try {\n    await work()\n  } finally {\n    await releaseCronLock(name)\n  }\n}\n',
    },
    'a lock that expires': {
      'cronLock.js':
        'export async function withCronLock(name, work) {\n  if (!(await acquireCronLock(name))) return\n  await work()\n}\n',
    },
    'routes that a platform calls': {
      'src/lib/cron-lock.ts':
        'export async function withCronLock(name, work) {\n  if (!(await acquireCronLock(name))) return\n  try {\n    await work()\n  } finally {\n    await releaseCronLock(name)\n  }\n}\n',
      'src/app/api/cron/a/route.ts':
        "import { withCronLock } from '../../../../lib/cron-lock'\nexport const GET = () => withCronLock('a', send)\n",
    },
    'a lock of another purpose': {
      'cart.js':
        'export async function checkout(id) {\n  await acquireLock(id)\n  try {\n    await pay(id)\n  } finally {\n    await releaseLock(id)\n  }\n}\n',
    },
    'a key with the date': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => {\n  const today = new Date().toISOString().slice(0, 10)\n  if (!(await acquireLock(`report:${today}`))) return\n  await send()\n  await releaseLock(`report:${today}`)\n})\n",
    },
    'a mutex in memory': {
      'jobs.js':
        "import cron from 'node-cron'\nimport { Mutex } from 'async-mutex'\nconst mutex = new Mutex()\ncron.schedule('0 * * * *', async () => {\n  const free = await mutex.acquire()\n  await send()\n  mutex.release()\n})\n",
    },
  },
})
