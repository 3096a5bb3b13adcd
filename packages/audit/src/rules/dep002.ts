import { type Rule, report } from './rule.ts'

/** What starts schedules. */
const SCHEDULER =
  /\bcrond?\b|\bsupercronic\b|\bcelery\b.*\bbeat\b|\bclock\.(?:py|[jt]s|rb)\b|\bscheduler\.(?:py|[jt]s)\b/

export const DEP002: Rule = {
  id: 'DEP002',
  level: 'warning',
  isScored: false,
  title: 'signals do not reach the scheduler',
  why: 'Docker sends SIGTERM to the shell, which does not pass it on: the old scheduler lives on until it is killed.',
  fix: 'Use the exec form, `CMD ["crond", "-f"]`, or begin the command with `exec`.',
  bad: { Dockerfile: 'FROM alpine\nCMD cron && tail -f /var/log/cron.log\n' },
  good: { Dockerfile: 'FROM alpine\nCMD ["crond", "-f"]\n' },
  check: (project) =>
    project.all('start-command').flatMap(({ place, text, isShellForm }) => {
      if (!isShellForm || !SCHEDULER.test(text) || /(?:^|&&\s*|;\s*)exec\s/.test(text)) return []
      return [report(DEP002, place, `\`${text.slice(0, 80)}\` runs in a shell that does not pass SIGTERM on.`)]
    }),
}
