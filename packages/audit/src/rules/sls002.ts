import { type Rule, report } from './rule.ts'

export const SLS002: Rule = {
  id: 'SLS002',
  level: 'warning',
  isScored: true,
  title: 'cron route without a secret',
  why: 'A caller who knows the address can run the job.',
  fix: 'Compare the `authorization` header with `CRON_SECRET`, and reject the request when the secret is not set.',
  bad: {
    'app/api/cron/run/route.ts':
      'export async function GET() {\n  await sendReminders()\n  return Response.json({ ok: true })\n}\n',
  },
  good: {
    'app/api/cron/run/route.ts':
      "export async function GET(request) {\n  const secret = process.env.CRON_SECRET\n  if (!secret || request.headers.get('authorization') !== `Bearer ${secret}`) return new Response('', { status: 401 })\n  await sendReminders()\n  return Response.json({ ok: true })\n}\n",
  },
  check: (project) =>
    project.all('cron-route').flatMap(({ place, secret, hasEffect }) => {
      if (secret !== 'missing' || !hasEffect) return []
      return [report(SLS002, place, 'This route runs a job and checks no secret: every caller can run it.')]
    }),
}
