import { SLS004 } from '../../src/rules/sls004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(SLS004, {
  bad: {
    'a template': {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  if (request.headers.get('authorization') !== `Bearer ${process.env.CRON_SECRET}`) return new Response('', { status: 401 }) // <<\n  await sendReminders()\n}\n",
    },
    'a literal': {
      'app/api/cron/run/route.ts':
        "const CRON_SECRET = process.env.CRON_SECRET || 'not-so-secret' // <<\nexport async function GET(request) {\n  if (request.headers.get('x') !== CRON_SECRET) return new Response('', { status: 401 })\n  await sendReminders()\n}\n",
    },
    'a constant': {
      'app/api/cron/run/route.ts':
        "const secret = process.env.CRON_SECRET\nexport async function GET(request) {\n  if (request.headers.get('authorization') !== `Bearer ${secret}`) return new Response('', { status: 401 }) // <<\n  await sendReminders()\n}\n",
    },
    'a check that is left out without the secret': {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  const secret = process.env.CRON_SECRET\n  if (secret && request.headers.get('authorization') !== `Bearer ${secret}`) return new Response('', { status: 401 }) // <<\n  await sendReminders()\n}\n",
    },
  },
  good: {
    'a test before': {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  const secret = process.env.CRON_SECRET\n  if (!secret) return new Response('', { status: 500 })\n  if (request.headers.get('authorization') !== `Bearer ${secret}`) return new Response('', { status: 401 })\n  await sendReminders()\n}\n",
    },
    'a test in the same condition': {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  if (!process.env.CRON_SECRET || request.headers.get('authorization') !== `Bearer ${process.env.CRON_SECRET}`) return new Response('', { status: 401 })\n  await sendReminders()\n}\n",
    },
    'a positive test': {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  const secret = process.env.CRON_SECRET\n  const isRight = secret && request.headers.get('authorization') === `Bearer ${secret}`\n  if (!isRight) return new Response('', { status: 401 })\n  await sendReminders()\n}\n",
    },
    'another variable with a default': {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  const base = process.env.NEXTAUTH_URL || 'http://localhost'\n  const secret = process.env.CRON_SECRET\n  if (!secret || request.headers.get('a') !== secret) return new Response('', { status: 401 })\n  await sendReminders()\n}\n",
    },
    'a message that falls back': {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  const message = tokenInfo.error || 'token expired'\n  if (!isValid(request)) return new Response(message, { status: 401 })\n  await sendReminders()\n}\n",
    },
    'a comparison in constant time': {
      'app/api/cron/run/route.ts':
        "export async function GET(request) {\n  const secret = process.env.CRON_SECRET\n  if (!secret || !timingSafeEqual(a, secret)) return new Response('', { status: 401 })\n  await sendReminders()\n}\n",
    },
  },
})
