import { CTB002 } from '../../src/rules/ctb002.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB002, {
  bad: {
    'every minute with a user': { 'docker/crontab': '* * * * * root /opt/app/run.sh >> /var/log/run.log 2>&1 # <<\n' },
    'a file of cron.d': { 'etc/cron.d/app': 'SHELL=/bin/sh\n\n*/5 * * * * app /opt/app/sync # <<\n' },
    'a list of minutes': { 'app.cron': '0,5,10,15,20,25,30,35,40,45,50,55 * * * * php /app/poll.php # <<\n' },
    'minutes of some hours': { crontab: '*/3 8-18 * * 1-5 /opt/poll # <<\n' },
    'django-crontab': {
      'settings.py':
        "INSTALLED_APPS = ['django_crontab']\nCRONJOBS = [\n    ('*/5 * * * *', 'app.cron.sync'), # <<\n]\n",
    },
    'a lock that a comment speaks of': { crontab: '# use flock here\n*/2 * * * * /opt/sync # <<\n' },
  },
  good: {
    'a command of Django that takes a lock': {
      crontab: '* * * * * cd /app && ./manage.py mirror\n',
      'app/management/commands/mirror.py':
        'class Command(BaseCommand):\n    @skip_unless_locked\n    def handle(self):\n        pass\n',
    },
    'every ten minutes': { crontab: '*/10 * * * * /opt/sync\n' },
    'flock with a path': { crontab: '* * * * * /usr/bin/flock -n /tmp/sync.lock /opt/sync\n' },
    'setlock and run-one': { crontab: '* * * * * setlock -n /tmp/a /opt/a\n* * * * * run-one /opt/b\n' },
    'a dispatcher of Laravel': {
      crontab: '* * * * * cd /var/www && php artisan schedule:run >> /dev/null 2>&1\n',
    },
    'a service of systemd': { 'cron.d/app': '*/5 * * * * root systemctl start sync.service\n' },
    'django-crontab with locks': {
      'settings.py': "CRONTAB_LOCK_JOBS = True\nCRONJOBS = [\n    ('*/5 * * * *', 'app.cron.sync'),\n]\n",
    },
    'a commented line': { crontab: '# * * * * * /opt/sync\n0 3 * * * /opt/backup\n' },
    'uneven minutes that are far apart': { crontab: '0,7,15,22,30,37,45,52 * * * * /opt/sync\n' },
    'a command that ends at once': { crontab: '* * * * * echo alive >> /tmp/alive\n' },
    'a source file that is called cron': {
      'src/cron.js': "schedule('* * * * * /opt/sync')\n",
      'cron.md': '* * * * * /opt/sync\n',
    },
    'prose that quotes a line of a crontab': {
      'docker/CRON':
        'The container has no crontab by default.\nRun enable.sh to turn updates on.\nTo see whether it is on, run:\ncrontab -l\nThis is what it does:\n* * * * * /home/app/update.sh\n',
    },
    'a look for the first run': { crontab: '*/2 * * * * pgrep -f sync.sh || /opt/sync.sh\n' },
  },
})
