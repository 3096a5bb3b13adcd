import { FLT004 } from '../../src/rules/flt004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT004, {
  bad: {
    'a delete of a query builder by name': {
      'cron-lock.ts':
        'export async function releaseCronLock(name: string) {\n  await db.delete(cronLocks).where(eq(cronLocks.name, name)) // <<\n}\n',
    },

    'a row that is cleared by name': {
      'cron-lock.ts':
        'export async function withCronLock(name: string, run: () => Promise<void>) {\n  const claim = await prisma.cronLock.updateMany({ where: { name, OR: [{ lockedAt: null }, { lockedAt: { lt: stale() } }] }, data: { lockedAt: now() } })\n  if (claim.count === 0) return\n  try {\n    await run()\n  } finally {\n    await prisma.cronLock.updateMany({ where: { name }, data: { lockedAt: null } }) // <<\n  }\n}\n',
    },

    'get, then set': {
      'cronLock.js':
        "export async function acquireCronLock(name) {\n  const holder = await redis.get(name)\n  if (holder) return false\n  await redis.set(name, id, 'EX', 60) // <<\n  return true\n}\n",
    },
    'setnx without an expiry': {
      'cronLock.js': 'export async function acquireCronLock(name) {\n  return redis.setnx(name, id) // <<\n}\n',
    },
    'a delete by name': {
      'cron-lock.ts':
        'export async function releaseLock(name: string) {\n  await locks.deleteOne({ _id: name }) // <<\n}\n',
    },
    'get, compare, expire': {
      'jobLock.js':
        'export async function renew(name) {\n  const holder = await redis.get(name)\n  if (holder === id) await redis.expire(name, 60) // <<\n}\n',
    },
    'SQL that deletes by name': {
      'cron-lock.ts':
        'export async function releaseLock(name: string) {\n  await db.execute(sql`DELETE FROM cron_locks WHERE job_name = ${name}`) // <<\n}\n',
    },
    'a lock inside the handler': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', async () => {\n  if (!(await redis.set('lock', '1', 'EX', 60, 'NX'))) return\n  await send()\n  await redis.del('lock') // <<\n})\n",
    },
    'a row that is taken over after a look': {
      'cron-lock.ts':
        'export async function acquireLock(id: string) {\n  const row = await prisma.cronLock.findUnique({ where: { id } })\n  if (row && row.expiresAt < new Date()) {\n    await prisma.cronLock.update({ where: { id }, data: { expiresAt: soon() } }) // <<\n    return true\n  }\n  return false\n}\n',
    },
  },
  good: {
    'a delete that also asks for the fence': {
      'cron-lock.ts':
        "export async function releaseCronLock(key: string, fence: string) {\n  await client.from('cron_locks').delete().eq('key', key).eq('expires_at', fence)\n}\n",
    },
    'a delete of a query builder that also asks for the holder': {
      'cron-lock.ts':
        'export async function releaseCronLock(name: string, id: string) {\n  await db.delete(cronLocks).where(and(eq(cronLocks.name, name), eq(cronLocks.run, id)))\n}\n',
    },

    'a row that its owner clears': {
      'cron-lock.ts':
        'export async function withCronLock(name: string, owner: string, run: () => Promise<void>) {\n  const claim = await prisma.cronLock.updateMany({ where: { name, lockedAt: null }, data: { lockedAt: now(), owner } })\n  if (claim.count === 0) return\n  try {\n    await run()\n  } finally {\n    await prisma.cronLock.updateMany({ where: { name, owner }, data: { lockedAt: null } })\n  }\n}\n',
    },

    'SQL with the run that took it': {
      'cron-lock.ts':
        'export async function releaseLock(handle: Handle) {\n  await db.execute(sql`UPDATE cron_locks SET locked_until = NOW() WHERE name = ${handle.name} AND run_id = ${handle.runId}`)\n}\n',
    },

    'SET NX EX': {
      'cronLock.js':
        "export async function acquireCronLock(name) {\n  return (await redis.set(name, id, 'EX', 60, 'NX')) === 'OK'\n}\n",
    },
    'a script that compares the owner': {
      'cronLock.js': 'export async function releaseCronLock(name) {\n  await redis.eval(SCRIPT, 1, name, id)\n}\n',
    },
    'a filter on the owner': {
      'cronLock.js':
        'export async function releaseCronLock(name) {\n  await CronLock.deleteOne({ name, ownedBy: HOST })\n}\n',
    },
    'a lock of another purpose': {
      'rate-limit.js':
        "export async function dedupe(key) {\n  if (await redis.get(key)) return false\n  await redis.set(key, '1')\n  return true\n}\n",
    },
    'SQL with the holder': {
      'cronLock.js':
        "export async function releaseCronLock(name, holder) {\n  await pool.query('DELETE FROM cron_locks WHERE job_name = $1 AND holder = $2', [name, holder])\n}\n",
    },
    'a cache': {
      'cache.js':
        'export async function load(key) {\n  const hit = await redis.get(key)\n  if (hit) return hit\n  await redis.set(key, await read(key))\n}\n',
    },
  },
})
