import { CRN006 } from '../../src/rules/crn006.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CRN006, {
  bad: {
    'the last day': { 'jobs.js': "import { Cron } from 'croner'\nnew Cron('0 0 L * *', () => send()) // <<\n" },
    'the third Friday': { 'jobs.js': "import { Cron } from 'croner'\nnew Cron('0 0 * * 5#3', () => send()) // <<\n" },
    'a question mark': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 0 3 ? * 1', () => send()) // <<\n",
    },
  },
  good: {
    'plain fields': { 'jobs.js': "import { Cron } from 'croner'\nnew Cron('0 0 1 * *', () => send())\n" },
    'names of days': { 'jobs.js': "import { Cron } from 'croner'\nnew Cron('0 0 * * WED', () => send())\n" },
    'names of months': { 'jobs.js': "import { Cron } from 'croner'\nnew Cron('0 0 1 JUL *', () => send())\n" },
    lists: { 'jobs.js': "import { Cron } from 'croner'\nnew Cron('0,30 9-17 * * 1-5', () => send())\n" },
    'a rule of EventBridge': {
      'infra.tf': 'resource "aws_cloudwatch_event_rule" "a" {\n  schedule_expression = "cron(0 3 * * ? *)"\n}\n',
    },
  },
})
