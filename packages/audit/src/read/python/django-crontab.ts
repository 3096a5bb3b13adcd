import type { Fact } from '../../facts/fact.ts'
import { crontabFacts } from '../crontab-line.ts'
import type { PythonModule } from './module.ts'
import { evaluate } from './value.ts'

/** `CRONJOBS = [('*\/5 * * * *', 'app.cron.job')]` of django-crontab, which writes them to the crontab of the host. */
export function djangoCrontabFacts(module: PythonModule): readonly Fact[] {
  const lock = module.constants.get('CRONTAB_LOCK_JOBS') ?? []
  const isLocked = lock.some((node) => evaluate(module, node).kind !== 'bool' || /True/.test(node.text))
  return (module.constants.get('CRONJOBS') ?? []).flatMap((node) => {
    const jobs = evaluate(module, node)
    if (jobs.kind !== 'list') return []
    return jobs.items.flatMap((job): readonly Fact[] => {
      const [expression, target] = job.kind === 'list' ? job.items : []
      if (expression?.kind !== 'text' || target?.kind !== 'text' || !/^[\w.]+$/.test(target.text)) return []
      const place = { path: module.path, line: job.line }
      const entry = { place, expression: expression.text, command: target.text, isLocked }
      return crontabFacts(entry, { kind: 'none' }, 'django-crontab')
    })
  })
}
