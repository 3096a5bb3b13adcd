import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audit } from '../../src/audit.ts'
import { treeOf } from '../../src/discover/tree.ts'
import type { Schedule } from '../../src/facts/schedule.ts'
import type { Unit } from '../../src/facts/unit.ts'

async function schedulesIn(path: string, text: string): Promise<readonly Schedule[]> {
  return (await audit(treeOf({ [path]: text }), [])).project.all('schedule')
}

/** What a schedule is read as, in one line. */
function inWords({ when, zone, guard, runner }: Schedule): string {
  const time = 'expression' in when ? when.expression : 'ms' in when ? `every ${when.ms}` : when.kind
  const fixed = when.kind === 'calendar' ? (when.isFixedHour ? ' fixed' : ' not fixed') : ''
  return `${time}${fixed}; ${zone.kind === 'stated' ? zone.name : zone.kind}; ${guard.kind}; ${runner}`
}

const APS = `import os
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger
`
const CASES: Readonly<Record<string, readonly [path: string, text: string, ...expected: readonly string[]]>> = {
  'hours without minutes mean minute 0 in APScheduler': [
    'a.py',
    `${APS}s = BackgroundScheduler()\ns.add_job(f, 'cron', hour='*/4')\n`,
    '0 0 */4 * * *; none; none; process',
  ],
  'weekdays of APScheduler begin with Monday': [
    'a.py',
    `${APS}s = BackgroundScheduler(timezone='UTC')\ns.add_job(f, CronTrigger(day_of_week='0-4', hour=8, minute=30))\n`,
    '0 30 8 * * mon-fri; UTC; none; process',
  ],
  'a trigger in a variable, and a zone of the job': [
    'a.py',
    `${APS}s = BackgroundScheduler()\nt = IntervalTrigger(minutes=5 * 2)\ns.add_job(f, t)\ns.add_job(g, 'cron', hour=3, timezone=zone)\n`,
    'every 600000; none; none; process',
    '0 0 3 * * *; computed; none; process',
  ],
  'an hour from configuration is an hour of the day': [
    'a.py',
    `${APS}s = BackgroundScheduler()\ns.add_job(f, 'cron', hour=Config.HOUR)\n`,
    'calendar fixed; none; none; process',
  ],
  'fields that APScheduler does not have, and ranges that go backward': [
    'a.py',
    `${APS}s = BackgroundScheduler()\ns.add_job(f, 'cron', days_of_week='mon')\ns.add_job(f, 'cron', day_of_week='sun-fri')\ns.add_job(f, 'interval', minute=5)\ns.add_job(f, 'cron', minute='*/60')\n`,
    'invalid; none; none; process',
    'invalid; none; none; process',
    'invalid; none; none; process',
    'invalid; none; none; process',
  ],
  'jobs that run once': [
    'a.py',
    `${APS}s = BackgroundScheduler()\ns.add_job(f)\ns.add_job(f, 'date', run_date=later)\n`,
    'once; none; none; process',
    'once; none; none; process',
  ],
  'a lock in the handler, a lock on a file, a role': [
    'a.py',
    `${APS}s = BackgroundScheduler()
def locked():
    if not redis.set('k', '1', nx=True, ex=60):
        return
def start():
    if os.environ.get('ROLE') != 'scheduler':
        return
    s.add_job(plain, 'interval', hours=1)
s.add_job(locked, 'interval', hours=1)
`,
    'every 3600000; none; designated; process',
    'every 3600000; none; shared; process',
  ],
  'modes and flags that are on by default are no guard': [
    'a.py',
    `${APS}s = BackgroundScheduler()
if os.environ.get('WERKZEUG_RUN_MAIN') == 'true':
    s.add_job(f, 'interval', hours=1)
if os.getenv('ENABLE_JOBS', 'true') == 'true':
    s.add_job(f, 'interval', hours=2)
`,
    'every 3600000; none; none; process',
    'every 7200000; none; none; process',
  ],
  'decorators of APScheduler and Flask': [
    'a.py',
    `from flask_apscheduler import APScheduler\nscheduler = APScheduler()\n@scheduler.task('interval', id='a', seconds=30)\ndef a():\n    pass\n@scheduler.scheduled_job('cron', minute='*/5')\ndef b():\n    pass\n`,
    'every 30000; none; none; process',
    '0 */5 * * * *; none; none; process',
  ],
  'the decorator of django-apscheduler': [
    'a.py',
    `${APS}from django_apscheduler.jobstores import register_job\ns = BackgroundScheduler()\n@register_job(s, 'cron', hour=12)\ndef a():\n    pass\n`,
    '0 0 12 * * *; none; none; process',
  ],
  'the library schedule': [
    'a.py',
    `import schedule
from schedule import every, repeat
schedule.every(10).minutes.do(f)
schedule.every().day.at("10:30", "Europe/Amsterdam").do(f)
schedule.every().monday.do(f)
schedule.every().hour.at(":17").do(f)
@repeat(every().day.at("08:00"))
def g():
    pass
`,
    'every 600000; none; none; process',
    'calendar fixed; Europe/Amsterdam; none; process',
    'every 604800000; none; none; process',
    'every 3600000; none; none; process',
    'calendar fixed; none; none; process',
  ],
  'names that only look like the library': [
    'a.py',
    'import schedule\nself.plan.every(10).do(f)\nevery(3).minutes.do(f)\nschedule.run_pending()\n',
  ],
  'crontabs of Celery': [
    'a.py',
    `from celery.schedules import crontab
app.conf.beat_schedule = {
    'a': {'task': 't', 'schedule': crontab(hour=5)},
    'b': {'task': 't', 'schedule': crontab(minute=0, hour='*/3', day_of_week='mon')},
    'c': {'task': 't', 'schedule': 30.0},
}
`,
    '* 5 * * *; platform; none; queue',
    '0 */3 * * mon; platform; none; queue',
    'every 30000; platform; none; queue',
  ],
  'a crontab of another library': ['a.py', 'from huey import crontab\ncelery = 1\nx = crontab(hour=5)\n'],
  'crontabs with a zone': [
    'crontab',
    'CRON_TZ=Europe/Berlin\nMAILTO=a\n0 3 * * * /opt/a\n@daily /opt/b\n',
    '0 3 * * *; Europe/Berlin; none; host',
    '@daily; Europe/Berlin; none; host',
  ],
  'timers of systemd': [
    'a.timer',
    '[Timer]\nOnCalendar=Mon..Fri 15:55\nOnCalendar=*:0/15\nOnCalendar=daily UTC\n',
    'calendar fixed; none; none; host',
    'calendar not fixed; none; none; host',
    'calendar fixed; UTC; none; host',
  ],
  'a CronJob': [
    'a.yaml',
    'apiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: "0 3 * * *"\n  timeZone: Europe/Berlin\n  jobTemplate: {}\n',
    '0 3 * * *; Europe/Berlin; none; platform',
  ],
  'a workflow': [
    '.github/workflows/a.yml',
    "on:\n  schedule:\n    - cron: '0 3 * * *'\n    - cron: '0 5 * * *'\n",
    '0 3 * * *; platform; none; platform',
    '0 5 * * *; platform; none; platform',
  ],
  'crons of Vercel': [
    'vercel.json',
    '{\n  "crons": [\n    { "path": "/api/cron", "schedule": "0 3 * * *" }\n  ]\n}\n',
    '0 3 * * *; platform; none; platform',
  ],
  'EventBridge in Terraform': [
    'a.tf',
    'resource "aws_scheduler_schedule" "a" {\n  schedule_expression          = "cron(25 0 * * ? *)"\n  schedule_expression_timezone = "America/New_York"\n}\nresource "b" "c" {\n  schedule_expression = var.rate\n}\n',
    '25 0 * * ? *; America/New_York; none; platform',
    'unknown; platform; none; platform',
  ],
}

for (const [title, [path, text, ...expected]] of Object.entries(CASES)) {
  test(title, async () => {
    assert.deepEqual((await schedulesIn(path, text)).map(inWords), expected)
  })
}

/** Path, text, and for each unit: name, instances, whether it starts before the old one stops. */
const UNITS: Readonly<Record<string, readonly [path: string, text: string, ...expected: readonly string[]]>> = {
  'apps of PM2': [
    'ecosystem.config.js',
    `module.exports = { apps: [
  { name: 'a', script: 'a.js', instances: 'max' },
  { name: 'b', script: 'b.js', instances: '-1' },
  { name: 'c', script: 'c.js', instances: 1 },
  { name: 'd', script: 'd.js' },
  { name: 'e', script: 'e.js', instances: process.env.N },
] }\n`,
    'a many null',
    'b many null',
    'c one null',
    'd one null',
    'e unstated null',
  ],
  'PM2 in JSON with holes': [
    'ecosystem.json.j2',
    '{ "apps": [{ "name": "a", "script": "a.js", "instances": {{ count }} }, { "name": "b", "script": "b.js", "instances": 2 }] }\n',
    'a unstated null',
    'b many null',
  ],
  'a Deployment with an autoscaler': [
    'k8s/a.yaml',
    'kind: Deployment\nmetadata: {name: a}\nspec:\n  strategy: {type: Recreate}\n  template: {spec: {containers: [{name: a, image: x}]}}\n---\nkind: HorizontalPodAutoscaler\nspec:\n  scaleTargetRef: {kind: Deployment, name: a}\n  maxReplicas: 5\n',
    'a many false',
  ],
  'replicas of Deployments': [
    'k8s/a.yaml',
    'kind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: 3\n  template: {spec: {containers: [{name: a}]}}\n---\nkind: Deployment\nmetadata: {name: b}\nspec:\n  replicas: {{ .Values.replicas }}\n  strategy: {rollingUpdate: {maxSurge: 0}}\n  template: {spec: {containers: [{name: b}]}}\n',
    'a many true',
    'b unstated false',
  ],
  'services of compose': [
    'compose.yaml',
    'services:\n  a:\n    image: a\n    deploy:\n      replicas: 3\n      update_config: {order: start-first}\n  b:\n    image: b\n  c:\n    image: c\n    deploy: {mode: global}\n',
    'a many true',
    'b one null',
    'c many false',
  ],
}

for (const [title, [path, text, ...expected]] of Object.entries(UNITS)) {
  test(title, async () => {
    const { project } = await audit(treeOf({ [path]: text }), [])
    const line = ({ name, instances, startsBeforeStop }: Unit) => `${name} ${instances} ${startsBeforeStop}`
    assert.deepEqual(project.all('unit').map(line), expected)
  })
}
