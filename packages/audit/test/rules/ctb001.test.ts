import { CTB001 } from '../../src/rules/ctb001.ts'
import { checkRule } from '../check-rule.ts'

const JOB = '0 3 * * * /opt/backup.sh'

checkRule(CTB001, {
  bad: {
    'cat and echo in a group': { 'a.sh': `crontab -l | { cat; echo "${JOB}"; } | crontab - # <<\n` },
    'a group over several lines': { 'a.sh': `(\n  crontab -l 2>/dev/null\n  echo "${JOB}"\n) | crontab -\n` },
    'a copy that gets a further line': {
      'a.sh': `crontab -l > mycron\necho "${JOB}" >> mycron # <<\ncrontab mycron\nrm mycron\n`,
    },
    'a copy in a variable path': {
      'a.sh': `TMP=$(mktemp)\ncrontab -l > "$TMP" 2>/dev/null\necho "${JOB}" >> "$TMP" # <<\ncrontab "$TMP"\n`,
    },
    'a variable': { 'a.sh': `old=$(crontab -l)\nprintf '%s\\n%s\\n' "$old" "$JOB" | crontab - # <<\n` },
    'the table of the system': { 'a.sh': `echo "0 3 * * * root /opt/backup.sh" >> /etc/crontab # <<\n` },
    'the spool of cron': { 'a.sh': `echo "${JOB}" >> /var/spool/cron/crontabs/root # <<\n` },
    'a check in another branch': {
      'a.sh': `case "$1" in\n  remove)\n    crontab -l | grep -v backup.sh | crontab -\n    ;;\n  install)\n    (crontab -l; echo "${JOB}") | crontab - # <<\n    ;;\nesac\n`,
    },
    'a check in a function that is not called': {
      'a.sh': `uninstall() {\n  crontab -l | grep -v backup.sh | crontab -\n}\ninstall() {\n  (crontab -l; echo "${JOB}") | crontab - # <<\n}\ninstall\n`,
    },
    'another user': { 'a.sh': `(crontab -u app -l; echo "${JOB}") | crontab -u app - # <<\n` },
    'a command on another machine': { 'deploy.sh': `ssh host "(crontab -l; echo '${JOB}') | crontab -" # <<\n` },
  },
  good: {
    'grep -v before': { 'a.sh': `(crontab -l | grep -v backup.sh; echo "${JOB}") | crontab -\n` },
    'grep -q around': {
      'a.sh': `if ! crontab -l | grep -q backup.sh; then\n  (crontab -l; echo "${JOB}") | crontab -\nfi\n`,
    },
    'grep and an or': { 'a.sh': `crontab -l | grep -qF backup.sh || (crontab -l; echo "${JOB}") | crontab -\n` },
    'a crontab that is replaced': { 'a.sh': `echo "${JOB}" | crontab -\n` },
    'a file that replaces it': { 'a.sh': `echo "${JOB}" > cron.txt\necho "${JOB}" >> cron.txt\ncrontab cron.txt\n` },
    'duplicates removed': { 'a.sh': `(crontab -l; echo "${JOB}") | sort -u | crontab -\n` },
    'a crontab that is emptied first': { 'a.sh': `crontab -r\n(crontab -l; echo "${JOB}") | crontab -\n` },
    'a hint that is printed': { 'a.sh': `echo "Run: (crontab -l; echo '${JOB}') | crontab -"\n` },
    'a comment': { 'a.sh': `# (crontab -l; echo "${JOB}") | crontab -\ntrue\n` },
    'an image': { Dockerfile: `FROM alpine\nRUN echo "${JOB}" >> /etc/crontabs/root\nCMD ["crond", "-f"]\n` },
    'a removal in a function that is called': {
      'a.sh': `clean() {\n  crontab -l | grep -v backup.sh | crontab -\n}\ninstall() {\n  clean\n  (crontab -l; echo "${JOB}") | crontab -\n}\n`,
    },
    'a file of cron.d that is written anew': {
      'a.sh': `echo "SHELL=/bin/sh" > /etc/cron.d/app\necho "0 3 * * * root /opt/a" >> /etc/cron.d/app\n`,
    },
    'a look at the table': { 'a.sh': `grep -q backup /etc/crontab || echo "0 3 * * * root /opt/a" >> /etc/crontab\n` },
    'a listing': { 'a.sh': `crontab -l > backup.txt\ncrontab -l | wc -l\n` },
    'a removal': { 'a.sh': `crontab -l | grep -v backup.sh | crontab -\n` },
    'a copy without the old line': {
      'a.sh': `crontab -l | grep -v backup.sh > mycron\necho "${JOB}" >> mycron\ncrontab mycron\n`,
    },
    'a copy that is looked at': {
      'a.sh': `crontab -l > mycron\nif ! grep -q backup.sh mycron; then\n  echo "${JOB}" >> mycron\n  crontab mycron\nfi\n`,
    },
    'a script that another script gets as an argument': {
      'a.sh': `cat > other.sh <<'EOF'\n(crontab -l; echo "${JOB}") | crontab -\nEOF\n`,
    },
  },
})
