import type { CronTrigger } from 'cronce/cron'
import { differingClockChange } from '../k8s-times.ts'
import { envForExec } from '../service/exec/command-env.ts'
import { shellWordsWithStdin } from './command-words.ts'
import { execWords, unheard } from './exec-call.ts'
import type { ExportedJob, ExportFinding, Rendered } from './exported.ts'
import { fiveFields } from './five-fields.ts'
import { k8sNames } from './k8s-names.ts'
import { HARDENED, type K8sOptions, labelsFor, storeEnv, yamlText } from './k8s-parts.ts'

/** The exit code by which `cronce exec` says that the store was away and nothing was run, and those of a pod that was ended. */
const WORTH_ANOTHER_POD = [5, 137, 143]

/** Kubernetes looks every ten seconds: a shorter deadline may never be met. */
const SHORTEST_DEADLINE = 10
/** `cronce exec` refuses what is older than a day. */
const LONGEST_DEADLINE = 86_400
/** For the pod to be scheduled, and its image to be pulled. */
const STARTING_SECONDS = 300

/** One CronJob for each job that is a command. */
export function renderCronJobs(jobs: readonly ExportedJob[], options: K8sOptions): Rendered {
  const findings: ExportFinding[] = []
  const texts: string[] = []
  const names = k8sNames(jobs.map(({ name }) => name))
  let count = 0
  for (const job of jobs) {
    const lost = (what: string, why: string, todo: string): void => {
      findings.push({ job: job.name, level: 'lost', what, why, todo })
      texts.push(`# not translated: ${comment(job.name)}: ${comment(what)}: ${comment(why)}\n`)
    }
    if (job.target.kind === 'other') {
      lost(job.target.what, 'a CronJob runs a command', 'deploy cronce start: --kind deployment')
      continue
    }
    const due = fiveFields(job.trigger, 'kubernetes')
    if (!due.ok) {
      lost('its schedule', `Kubernetes has no way to say it: ${due.why}`, due.todo)
      continue
    }
    const timeZone = zoneName(due.tz)
    if (timeZone === null) {
      lost(`tz ${due.tz}`, 'Kubernetes knows zones by name only', 'write the name of a zone')
      continue
    }
    findings.push(...unheard(job), ...differences(job, due.trigger, options.now))
    const words = execWords(job, { ...job.target, words: shellWordsWithStdin(job.target) }, due)
    const manifest = cronJob(job, { name: names.get(job.name)!, schedule: due.expression, timeZone, words }, options)
    texts.push(yamlText(manifest))
    count++
  }
  return { text: texts.join('---\n'), findings, count }
}

/** What Kubernetes itself does differently, whatever the options of `cronce exec`. */
function differences({ name, policy }: ExportedJob, due: CronTrigger, now: number): ExportFinding[] {
  const found: [what: string, why: string, todo: string][] = []
  const change = differingClockChange(due, now)
  if (change !== null) {
    const why = `Kubernetes skips local times that do not exist, and runs twice at those that come twice, next on ${change}`
    found.push(['a change of the clock', why, 'choose another hour, or run it with cronce start'])
  }
  if (policy.misfire.late !== 'skip' && policy.misfire.windowMs > LONGEST_DEADLINE * 1_000) {
    found.push([
      'misfire.window',
      'cronce exec refuses fires that are more than a day old, so the deadline is a day',
      'run it with cronce start',
    ])
  }
  if (policy.misfire.late === 'skip' && policy.misfire.graceMs < SHORTEST_DEADLINE * 1_000) {
    const why = `Kubernetes may never meet a shorter deadline than ${SHORTEST_DEADLINE}s, so that is the deadline`
    found.push(['misfire.grace', why, 'run it with cronce start'])
  }
  return found.map(([what, why, todo]) => ({ job: name, level: 'changed', what, why, todo }))
}

function comment(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}

/** Whole hours have names, with their sign turned around. */
function zoneName(tz: string): string | null {
  if (tz === 'UTC') return 'Etc/UTC'
  const [, sign, hours] = /^([+-])(\d{2}):?(?:00)?$/.exec(tz) ?? []
  if (sign !== undefined) return `Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`
  return /^[+-]/.test(tz) ? null : tz
}

interface Rendering {
  readonly name: string
  readonly schedule: string
  readonly timeZone: string
  readonly words: readonly string[]
}

function cronJob(job: ExportedJob, { name, schedule, timeZone, words }: Rendering, options: K8sOptions): object {
  const { policy, target } = job
  const { env = {}, cwd = null } = target.kind === 'command' ? target : {}
  const labels = labelsFor(name)
  const active = activeSeconds(policy)
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, labels },
    spec: {
      schedule,
      timeZone,
      // `cronce exec` skips and queues. With Forbid, Kubernetes would start the skipped time once the earlier Job has ended.
      concurrencyPolicy: policy.overlap.kind === 'replace' ? 'Replace' : 'Allow',
      startingDeadlineSeconds: deadlineSeconds(policy),
      ...historyLimits(policy),
      jobTemplate: {
        spec: {
          // cronce exec retries what failed; another pod is for pods that were lost.
          backoffLimit: policy.retry.crashes,
          ...(active === null ? {} : { activeDeadlineSeconds: active }),
          podFailurePolicy: {
            rules: [
              { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
              {
                action: 'FailJob',
                onExitCodes: { containerName: 'job', operator: 'NotIn', values: WORTH_ANOTHER_POD },
              },
            ],
          },
          template: {
            metadata: { labels },
            spec: {
              restartPolicy: 'Never',
              automountServiceAccountToken: false,
              terminationGracePeriodSeconds: Math.ceil(policy.timeout.graceMs / 1_000) + 15,
              securityContext: HARDENED.pod,
              containers: [
                {
                  name: 'job',
                  image: options.image,
                  command: words.map(escapeVariables),
                  ...(cwd === null ? {} : { workingDir: cwd }),
                  env: [
                    ...storeEnv(options),
                    {
                      name: 'CRONCE_K8S_JOB',
                      valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-name']" } },
                    },
                    ...Object.entries(envForExec(env)).map(([key, value]) => ({
                      name: key,
                      value: escapeVariables(value),
                    })),
                  ],
                  securityContext: HARDENED.container,
                },
              ],
            },
          },
        },
      },
    },
  }
}

/** To Kubernetes `$(NAME)` is a variable and `$$` one dollar, in values and in commands. */
function escapeVariables(text: string): string {
  return text.replace(/\$+(?=\()|\${2,}/g, (dollars) => dollars + dollars)
}

function deadlineSeconds({ misfire }: ExportedJob['policy']): number {
  const ms = misfire.late === 'skip' ? misfire.graceMs : misfire.windowMs
  return Math.min(LONGEST_DEADLINE, Math.max(SHORTEST_DEADLINE, Math.ceil(ms / 1_000)))
}

/** All attempts with their delays: the Job is the frame, and each attempt is timed by `cronce exec`. */
function activeSeconds({ timeout, retry }: ExportedJob['policy']): number | null {
  if (timeout.runMs === null) return null
  const runs = retry.attempts + 1
  const delays = Array.from({ length: Math.min(retry.attempts, 50) }, (_, i) =>
    Math.min(retry.capMs, retry.baseMs * retry.factor ** i),
  )
  const total = runs * (timeout.runMs + timeout.graceMs) + delays.reduce((sum, delay) => sum + delay, 0)
  return Math.ceil(total / 1_000) + STARTING_SECONDS
}

const DEFAULT_COUNT = 1_000

/** So few by default, since each is an object of the cluster; the record is in the store. */
function historyLimits({ retention: { count } }: ExportedJob['policy']): object {
  if (count === DEFAULT_COUNT) return { successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }
  const failed = Math.max(1, Math.floor(count / 2))
  return { successfulJobsHistoryLimit: count - failed, failedJobsHistoryLimit: failed }
}
