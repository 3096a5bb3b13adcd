/** The order of the site. Every Markdown file below docs is in it, once. */
export interface Group {
  readonly title: string
  readonly pages: readonly string[]
}

export const GROUPS: readonly Group[] = [
  { title: 'Start', pages: ['README.md', 'docs/production.md', 'docs/comparison.md'] },
  {
    title: 'Concepts',
    pages: [
      ...['docs/concepts/fire.md', 'docs/concepts/fencing.md', 'docs/concepts/misfire.md', 'docs/concepts/overlap.md'],
      ...['docs/concepts/deploys.md', 'docs/architecture.md'],
    ],
  },
  {
    title: 'Guides',
    pages: [
      ...['docs/stores.md', 'docs/postgres.md', 'docs/redis.md', 'docs/etcd.md', 'docs/zookeeper.md'],
      ...[
        'docs/policies.md',
        'docs/calendars.md',
        'docs/deploys.md',
        'docs/plan.md',
        'docs/moving-jobs.md',
        'docs/pm2.md',
        'docs/locks.md',
        'docs/targets.md',
        'docs/queues.md',
      ],
      ...['docs/frameworks.md', 'docs/nestjs.md', 'docs/triggers.md'],
      ...['docs/testing.md', 'docs/service.md', 'docs/dashboard.md', 'docs/monitoring.md'],
      ...['docs/alerts.md', 'docs/heartbeat.md', 'docs/activity.md', 'docs/doctor.md', 'docs/exec.md', 'docs/audit.md'],
    ],
  },
  {
    title: 'Migrate',
    pages: [
      ...[
        'docs/migrate/README.md',
        'docs/node-cron.md',
        'docs/migrate/node-cron.md',
        'docs/migrate/nestjs-schedule.md',
        'docs/migrate/redis-lock.md',
      ],
      ...[
        'docs/migrate/bullmq.md',
        'docs/migrate/pg-boss.md',
        'docs/migrate/graphile-worker.md',
        'docs/migrate/agenda.md',
      ],
      ...[
        'docs/migrate/advisory-locks.md',
        'docs/migrate/curator.md',
        'docs/migrate-from-cron.md',
        'docs/migrate/kubernetes.md',
      ],
    ],
  },
  {
    title: 'Reference',
    pages: ['docs/api.md', 'docs/cli.md', 'docs/server.md', 'docs/cron.md', 'docs/cron-differences.md'],
  },
  {
    title: 'Guarantees',
    pages: [
      ...['docs/guarantees.md', 'docs/verification.md', 'docs/break-it-yourself.md', 'docs/evidence/README.md'],
      ...['docs/evidence/peers.md', 'docs/evidence/soak.md', 'docs/evidence/skew.md'],
    ],
  },
  { title: 'Benchmarks', pages: ['docs/benchmarks.md'] },
  {
    title: 'Project',
    pages: ['CONTRIBUTING.md', 'docs/dependencies.md', 'docs/decisions/*.md', 'SECURITY.md', 'CHANGELOG.md'],
  },
  { title: 'Audit rules', pages: ['docs/audit/*.md'] },
]

/** Where a page of the site is, for a Markdown file of the repository. */
export function addressOf(file: string): string {
  if (file === 'README.md') return 'index.html'
  return file
    .replace(/^docs\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.html')
    .replace(/\.md$/, '.html')
    .toLowerCase()
}
