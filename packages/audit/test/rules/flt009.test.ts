import { FLT009 } from '../../src/rules/flt009.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT009, {
  bad: {
    'a Map of running jobs when Redis is away': {
      'cron-lock.ts':
        "const runningJobs = new Map<string, number>() // <<\nexport async function withJobLock(name: string, run: () => Promise<void>) {\n  if (!isRedisAvailable() && runningJobs.has(name)) return\n  if (isRedisAvailable() && (await redis.set(name, '1', 'EX', 60, 'NX')) !== 'OK') return\n  runningJobs.set(name, 1)\n  await run()\n}\n",
    },

    'an object when Redis is away': {
      'cronLock.ts':
        "const memoryLocks: Record<string, boolean> = {} // <<\nexport const acquireLock = async (name: string) => {\n  if (isRedisAvailable()) return (await redis.set(name, id, 'EX', 60, 'NX')) === 'OK'\n  if (memoryLocks[name]) return false\n  memoryLocks[name] = true\n  return true\n}\n",
    },

    'a Map': {
      'cron-lock.ts':
        'const locks = new Map<string, number>() // <<\nexport function acquireLock(name: string) {\n  if (locks.has(name)) return false\n  locks.set(name, 1)\n  return true\n}\n',
    },
    'a Set of a class': {
      'job-lock.ts':
        'export class JobLock {\n  private held = new Set<string>() // <<\n  tryLock(name: string) {\n    if (this.held.has(name)) return false\n    this.held.add(name)\n    return true\n  }\n}\n',
    },
    'a helper that a handler uses': {
      'jobs.js':
        "import cron from 'node-cron'\nimport { tryLock } from './lock.js'\ncron.schedule('0 * * * *', async () => {\n  if (!tryLock('a')) return\n  await send()\n})\n",
      'lock.js':
        'const locks = new Map() // <<\nexport function tryLock(name) {\n  if (locks.has(name)) return false\n  locks.set(name, true)\n  return true\n}\n',
    },
    'an interceptor beside @Cron': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nimport { UseInterceptors } from '@nestjs/common'\nexport class Jobs {\n  @Cron('0 * * * *')\n  @UseInterceptors(LockInterceptor) // <<\n  async run() {\n    await this.mailer.send()\n  }\n}\n",
    },
    'a decorator that only sets metadata': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nimport { SetMetadata } from '@nestjs/common'\nconst DistributedLock = (name: string) => SetMetadata('lock', name)\nexport class Jobs {\n  @Cron('0 * * * *')\n  @DistributedLock('run') // <<\n  async run() {\n    await this.mailer.send()\n  }\n}\n",
    },
  },
  good: {
    Redis: {
      'cron-lock.ts':
        "export async function acquireLock(name: string) {\n  return redis.set(name, '1', 'EX', 60, 'NX')\n}\n",
    },
    'a flag against overlap': {
      'jobs.js':
        "import cron from 'node-cron'\nlet isRunning = false\ncron.schedule('* * * * *', async () => {\n  if (isRunning) return\n  isRunning = true\n  await send()\n  isRunning = false\n})\n",
    },
    'a Map that is no lock': {
      'cron.js':
        "import cron from 'node-cron'\nconst last = new Map()\ncron.schedule('0 * * * *', () => { last.set('a', 1); send() })\n",
    },
    'a decorator that wraps the method': {
      'a.ts':
        "import { Cron, CronExpression, Timeout } from '@nestjs/schedule'\nfunction Locked(name: string) {\n  return (target: object, key: string, descriptor: PropertyDescriptor) => {\n    const original = descriptor.value\n    descriptor.value = async function (...args: unknown[]) {\n      if (await redis.set(name, '1', 'EX', 60, 'NX')) return original.apply(this, args)\n    }\n  }\n}\nexport class Jobs {\n  @Cron('0 * * * *')\n  @Locked('run')\n  async run() {\n    await this.mailer.send()\n  }\n}\n",
    },
    'a lock of another purpose in memory': {
      'editor.ts': 'const locks = new Map()\nexport function lockDocument(id) {\n  locks.set(id, true)\n}\n',
    },
    'an interceptor for requests': {
      'a.ts':
        "import { UseInterceptors } from '@nestjs/common'\nexport class Controller {\n  @UseInterceptors(LockInterceptor)\n  get() {}\n}\nexport const cron = 1\n",
    },
  },
})
