import { FLT010 } from '../../src/rules/flt010.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT010, {
  bad: {
    'catch that lets it run': {
      'cronLock.js':
        "export async function acquireCronLock(name) {\n  try {\n    return await redis.set(name, '1', 'EX', 60, 'NX')\n  } catch (error) {\n    return true // <<\n  }\n}\n",
    },
    'no client': {
      'cronLock.js':
        "export async function acquireCronLock(name) {\n  if (!redis) return true // <<\n  return redis.set(name, '1', 'EX', 60, 'NX')\n}\n",
    },
    'a class': {
      'a.ts':
        "export class CronLock {\n  async tryLock(name: string) {\n    try {\n      return await this.redis.set(name, '1', 'EX', 60, 'NX')\n    } catch {\n      return true // <<\n    }\n  }\n}\n",
    },
  },
  good: {
    'catch that does not': {
      'cronLock.js':
        "export async function acquireCronLock(name) {\n  try {\n    return await redis.set(name, '1', 'EX', 60, 'NX')\n  } catch {\n    return false\n  }\n}\n",
    },
    success: {
      'cronLock.js':
        "export async function acquireCronLock(name) {\n  if (await redis.set(name, '1', 'EX', 60, 'NX')) return true\n  return false\n}\n",
    },
    'a catch that takes over': {
      'cronLock.js':
        'export async function acquireCronLock(name) {\n  try {\n    await insert(name)\n  } catch {\n    if (await takeOver(name)) return true\n    return false\n  }\n}\n',
    },
    'another function': {
      'cronLock.js':
        'export async function isHealthy() {\n  try {\n    await ping()\n  } catch {\n    return true\n  }\n}\n',
    },
    'a lock of another purpose': {
      'cart.js':
        "export async function acquireLock() {\n  try {\n    return await redis.set('a', '1', 'NX')\n  } catch {\n    return true\n  }\n}\n",
    },
  },
})
