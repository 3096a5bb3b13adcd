import { type Rule, report } from './rule.ts'

export const SLS004: Rule = {
  id: 'SLS004',
  level: 'warning',
  isScored: true,
  title: 'secret that may be undefined or is written in the source',
  why: 'Without the variable, `Bearer undefined` or the literal opens the route to everyone.',
  fix: 'Reject every request when the variable is not set.',
  bad: {
    'app/api/cron/run/route.ts':
      "export async function GET(request) {\n  if (request.headers.get('authorization') !== `Bearer ${process.env.CRON_SECRET}`) return new Response('', { status: 401 })\n  await sendReminders()\n  return Response.json({ ok: true })\n}\n",
  },
  good: {
    'app/api/cron/run/route.ts':
      "export async function GET(request) {\n  const secret = process.env.CRON_SECRET\n  if (!secret) return new Response('', { status: 500 })\n  if (request.headers.get('authorization') !== `Bearer ${secret}`) return new Response('', { status: 401 })\n  await sendReminders()\n  return Response.json({ ok: true })\n}\n",
  },
  check: (project) =>
    project.all('cron-route').flatMap(({ weakness }) => {
      if (weakness === null) return []
      const { kind, name, place } = weakness
      if (kind === 'literal')
        return [report(SLS004, place, `\`${name}\` falls back to a secret that is written in the source.`, 'error')]
      const effect = kind === 'optional' ? 'the check is left out' : 'the route accepts the text "undefined"'
      return [report(SLS004, place, `If \`${name}\` is not set, ${effect}.`)]
    }),
}
