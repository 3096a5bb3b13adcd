import { SLS002 } from '../../src/rules/sls002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(SLS002, {
  bad: {
    'a verb inside the name': {
      'src/app/api/cron/quests/route.ts':
        "import { monitoredActivateQuests } from '@/services/quests'\nexport async function GET() { // <<\n  await monitoredActivateQuests()\n  return Response.json({ ok: true })\n}\n",
    },

    'a route of Next': {
      'app/api/cron/run/route.ts':
        'export async function GET() { // <<\n  await sendReminders()\n  return Response.json({})\n}\n',
    },
    'a page route': {
      'pages/api/cron/daily.ts':
        'export default async function handler(req, res) { // <<\n  await prisma.invoice.updateMany({ data: {} })\n  res.json({})\n}\n',
    },
    'a path of vercel.json': {
      'vercel.json': '{ "crons": [{ "path": "/api/digest", "schedule": "0 3 * * *" }] }\n',
      'api/digest.ts':
        '// started by cron\nexport default async function handler(req, res) { // <<\n  await sendDigest()\n  res.json({})\n}\n',
    },
  },
  good: {
    'a secret': {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  if (request.headers.get('authorization') !== key) return new Response('', { status: 401 })\n  await sendReminders()\n}\n",
    },
    'a check in another function': {
      'app/api/cron/run/route.ts':
        "import { verifyCron } from '@/lib/verify'\nexport async function GET(request) {\n  verifyCron(request)\n  await sendReminders()\n}\n",
    },
    'a wrapper': {
      'app/api/cron/run/route.ts':
        "import { withCron } from '@/lib/with-cron'\nexport const GET = withCron(async () => { await sendReminders() })\n",
    },
    'a function that is handed the request': {
      'app/api/cron/run/route.ts':
        "import { allowed } from '@/lib/allowed'\nexport async function GET(request) {\n  if (!allowed(request)) return\n  await sendReminders()\n}\n",
    },
    'a route without effect': {
      'app/api/cron/run/route.ts': 'export async function GET() {\n  return Response.json({ cron: true })\n}\n',
    },
    'another route': {
      'app/api/users/route.ts': '// cron\nexport async function GET() {\n  await sendReminders()\n}\n',
    },
  },
})
