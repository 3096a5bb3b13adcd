import { type Rule, report } from './rule.ts'

const SECRET = /\b(\w*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY))=(?!["']?[$<{]|\s|$)\S+/i

export const SEC001: Rule = {
  id: 'SEC001',
  level: 'info',
  isScored: false,
  title: 'secret in a crontab',
  why: 'Everybody who can read the file or the list of processes can read it.',
  fix: 'Read the secret from a file that only the command can open.',
  bad: { crontab: '0 3 * * * PGPASSWORD=hunter2 pg_dump app > /backup/app.sql\n' },
  good: { crontab: '0 3 * * * PGPASSFILE=/etc/backup/pgpass pg_dump app > /backup/app.sql\n' },
  check: (project) =>
    project.all('crontab-line').flatMap(({ place, command }) => {
      const name = SECRET.exec(command)?.[1]
      return name === undefined ? [] : [report(SEC001, place, `The value of \`${name}\` is written in the crontab.`)]
    }),
}
