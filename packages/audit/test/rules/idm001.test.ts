import { IDM001 } from '../../src/rules/idm001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(IDM001, {
  bad: {
    'a payout of an injected client': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', async () => {\n  await this.stripe.payouts.create({ amount: 1 }) // <<\n})\n",
    },
    'a mail': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', async () => {\n  await transporter.sendMail({ to }) // <<\n})\n",
    },
    'a text message in a function that the handler calls': {
      'jobs.js':
        "import cron from 'node-cron'\nasync function remind() {\n  await twilio.messages.create({ to }) // <<\n}\ncron.schedule('0 3 * * *', () => remind())\n",
    },
  },
  good: {
    'a key': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', async () => {\n  await stripe.charges.create({ amount: 1 }, { idempotencyKey: key })\n})\n",
    },
    'a key that is made before': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', async () => {\n  const options = { idempotencyKey: key }\n  await stripe.charges.create({ amount: 1 }, options)\n})\n",
    },
    'a read': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', async () => {\n  await stripe.charges.list({ limit: 1 })\n})\n",
    },
    'a row of a database': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', async () => {\n  await prisma.charges.create({ data })\n})\n",
    },
    'a mail of a request': {
      'a.js': "app.post('/mail', async (req, res) => {\n  await transporter.sendMail({ to: req.body.to })\n})\n",
    },
    'a mail with an id': {
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 3 * * *', async () => {\n  await transporter.sendMail({ to, messageId: id })\n})\n",
    },
  },
})
