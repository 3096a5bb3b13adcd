import { FLT005 } from '../../src/rules/flt005.ts'
import { checkRule } from '../check-rule.ts'

checkRule(FLT005, {
  bad: {
    'a pool of pg': {
      'lock.js':
        "import { Pool } from 'pg'\nconst pool = new Pool()\nexport const take = () => pool.query('SELECT pg_try_advisory_lock(1)') // <<\n",
    },
    Prisma: { 'lock.ts': 'export const take = () => prisma.$queryRaw`SELECT pg_advisory_lock(1)` // <<\n' },
    Sequelize: { 'lock.ts': "export const take = () => sequelize.query('SELECT pg_try_advisory_lock(1)') // <<\n" },
    'a pool of a class': {
      'lock.ts':
        "export class Lock {\n  take() {\n    return this.pool.query('SELECT pg_try_advisory_lock(1)') // <<\n  }\n}\n",
    },
  },
  good: {
    'one client': {
      'lock.js': "const client = await pool.connect()\nawait client.query('SELECT pg_try_advisory_lock(1)')\n",
    },
    'a lock of the transaction': {
      'lock.ts':
        'await prisma.$transaction(async (tx) => {\n  await tx.$queryRaw`SELECT pg_try_advisory_xact_lock(1)`\n})\n',
    },
    'a transaction lock through Prisma': { 'lock.ts': 'await prisma.$queryRaw`SELECT pg_advisory_xact_lock(1)`\n' },
    'a client of its own': {
      'lock.js':
        "import { Client } from 'pg'\nconst client = new Client()\nawait client.query('SELECT pg_advisory_lock(1)')\n",
    },
    'a comment': { 'lock.js': "// pool.query('SELECT pg_advisory_lock(1)')\nexport {}\n" },
    'a connection that is handed in': {
      'lock.ts': "export const take = (connection) => connection.query('SELECT pg_advisory_lock(1)')\n",
    },
  },
})
