import { SHD001 } from '../../src/rules/shd001.ts'
import { checkRule } from '../check-rule.ts'

checkRule(SHD001, {
  bad: {
    'node-cron': {
      'package.json': '{}\n',
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send()) // <<\n",
    },
    'Nest without hooks': {
      'package.json': '{}\n',
      'a.service.ts':
        "import { Cron } from '@nestjs/schedule'\nclass A {\n  @Cron('0 * * * *') // <<\n  async run() { await send() }\n}\n",
      'main.ts': 'const app = await NestFactory.create(AppModule)\nawait app.listen(3000)\n',
    },
    'a hook of another package': {
      'a/package.json': '{}\n',
      'b/package.json': '{}\n',
      'a/jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send()) // <<\n",
      'b/index.js': "process.on('SIGTERM', stop)\n",
    },
    'a hook in a comment': {
      'package.json': '{}\n',
      'jobs.js':
        "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send()) // <<\n\n// process.on('SIGTERM', stop)\n",
    },
  },
  good: {
    'a file without its package': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
    },
    'a signal handler in another file': {
      'package.json': '{}\n',
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
      'index.js': "process.on('SIGTERM', () => stop())\n",
    },
    'Nest with hooks': {
      'package.json': '{}\n',
      'a.service.ts':
        "import { Cron } from '@nestjs/schedule'\nclass A {\n  @Cron('0 * * * *')\n  async run() { await send() }\n}\n",
      'main.ts': 'const app = await NestFactory.create(AppModule)\napp.enableShutdownHooks()\n',
    },
    'a list of signals': {
      'package.json': '{}\n',
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
      'index.js': "for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)\n",
    },
    'a package that stops it': {
      'package.json': '{}\n',
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n",
      'index.js': "import closeWithGrace from 'close-with-grace'\n",
    },
    'a schedule of a queue': {
      'a.js': "await queue.upsertJobScheduler('report', { pattern: '0 3 * * *', tz: 'UTC' })\n",
    },
    'a job that only logs': {
      'jobs.js': "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => console.log('alive'))\n",
    },
  },
})
