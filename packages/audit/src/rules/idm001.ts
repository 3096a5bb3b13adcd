import { type Rule, report } from './rule.ts'

export const IDM001: Rule = {
  id: 'IDM001',
  level: 'info',
  isScored: false,
  title: 'payment or message without an idempotency key',
  why: 'If the job runs twice, or again after a crash, the customer pays twice or gets the message twice.',
  fix: 'Pass an idempotency key that is made of the schedule and its due time.',
  bad: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 3 * * *', async () => {\n  await stripe.charges.create({ amount: 500, currency: 'eur' })\n})\n",
  },
  good: {
    'jobs.js':
      "import cron from 'node-cron'\ncron.schedule('0 3 * * *', async () => {\n  await stripe.charges.create({ amount: 500, currency: 'eur' }, { idempotencyKey: fire.key })\n})\n",
  },
  check: (project) =>
    project.all('schedule').flatMap(({ handler }) => {
      const unkeyed = handler.flow?.unkeyed ?? null
      if (unkeyed === null) return []
      return [report(IDM001, unkeyed.place, `\`${unkeyed.text}\` has no key, so a second run repeats the effect.`)]
    }),
}
