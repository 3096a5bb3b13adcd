import type { Finding } from './imported.ts'
import type { Manifest } from './k8s-documents.ts'

/** What is read, or means nothing to a job, by where it stands. Everything else is reported. */
const CRON_JOB = words(
  'schedule timeZone concurrencyPolicy startingDeadlineSeconds suspend jobTemplate successfulJobsHistoryLimit failedJobsHistoryLimit',
)
const JOB = words('template backoffLimit activeDeadlineSeconds ttlSecondsAfterFinished')
const POD = words('containers restartPolicy activeDeadlineSeconds')
const CONTAINER = words('name image command args env envFrom workingDir imagePullPolicy')

/** Why it has no counterpart, for those that people use most; several runs for one fire are another thing altogether. */
const WHY: Readonly<Record<string, readonly [why: string, todo: string]>> = {
  volumes: ['commands see the files of the machine that runs cronce start', 'mount them there'],
  volumeMounts: ['commands see the files of the machine that runs cronce start', 'mount them there'],
  initContainers: ['a job runs one command', 'put it before the command, with &&'],
  serviceAccountName: ['commands have the rights of cronce start', 'give it the account'],
  securityContext: ['commands have the user and the rights of cronce start', 'run cronce start with them'],
  resources: ['commands share what cronce start has', 'give it enough, or use concurrency or group'],
  terminationGracePeriodSeconds: ['a command has 10s to end, after the signal', 'write timeout: { run, grace }'],
  podFailurePolicy: ['exit codes other than 0 are failures, and tried again as retry says', 'use successCodes'],
}

const SEVERAL = /^(parallelism|completions)$/

/** The fields of ours that are written by `cronce export`, which mean nothing once a command is taken out of it again. */
const OURS = /^(podFailurePolicy|terminationGracePeriodSeconds|securityContext|automountServiceAccountToken)$/

export function unknownFields(manifest: Manifest): [Manifest, Omit<Finding, 'place'>][] {
  const spec = manifest.at('spec')
  const job = spec.at('jobTemplate', 'spec')
  const pod = job.at('template', 'spec')
  const [container] = pod.at('containers').elements
  const isOurs = /^cronce\b/.test(manifest.at('metadata', 'labels', 'app.kubernetes.io/managed-by').text ?? '')
  const parts: [Manifest, ReadonlySet<string>][] = [
    [spec, CRON_JOB],
    [job, JOB],
    [pod, POD],
    ...(container === undefined ? [] : ([[container, CONTAINER]] as [Manifest, ReadonlySet<string>][])),
  ]
  return parts.flatMap(([part, known]) =>
    part.keys
      .filter((key) => !known.has(key) && !(isOurs && OURS.test(key)))
      .flatMap((key) => findingFor(key, part.at(key))),
  )
}

function findingFor(key: string, at: Manifest): [Manifest, Omit<Finding, 'place'>][] {
  if (SEVERAL.test(key)) {
    if ((at.number ?? 1) === 1) return []
    const what = `${key}: ${at.number}`
    return [
      [
        at,
        {
          level: 'changed',
          what,
          why: 'a fire is run once',
          todo: `make ${at.number} jobs of it, or one that does it all`,
        },
      ],
    ]
  }
  const [why, todo] = WHY[key] ?? ['it has no counterpart', 'look whether it matters']
  return [[at, { level: 'changed', what: key, why, todo }]]
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}
