import type { Rendered } from './exported.ts'
import { HARDENED, type K8sOptions, labelsFor, storeEnv, yamlText } from './k8s-parts.ts'

export interface DeploymentOptions extends K8sOptions {
  readonly name: string
  readonly replicas: number
  /** How long runs may finish when a pod is stopped. */
  readonly drainMs: number
  /** The file with the jobs, in the image; `null`: the configuration that is there names it. */
  readonly jobsFile: string | null
  readonly count: number
}

const PORT = 7070
/** After the drain: to hand back what did not finish, and to leave. */
const LEAVING_SECONDS = 15

/** `cronce start` as a Deployment, of which one pod at a time may be disrupted. */
export function renderDeployment(options: DeploymentOptions): Rendered {
  const { name, replicas, drainMs, jobsFile } = options
  const labels = labelsFor(name)
  const selector = { matchLabels: { 'app.kubernetes.io/name': name } }
  const drain = Math.ceil(drainMs / 1_000)
  const probe = (path: string): object => ({ httpGet: { path, port: 'http' } })
  const command = ['cronce', 'start', ...(jobsFile === null ? [] : [jobsFile])]
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas,
      selector,
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: drain + LEAVING_SECONDS,
          securityContext: HARDENED.pod,
          containers: [
            {
              name: 'cronce',
              image: options.image,
              command: [...command, '--listen', `0.0.0.0:${PORT}`, '--drain', `${drain}s`],
              env: [
                ...storeEnv(options),
                // Off loopback the API needs a token. The probes do not.
                { name: 'CRONCE_READ_TOKEN', valueFrom: { secretKeyRef: { name: options.secret, key: 'read-token' } } },
                { name: 'NODE_ENV', value: 'production' },
              ],
              ports: [{ name: 'http', containerPort: PORT }],
              // A store that is away must not restart pods: only a process that does not answer is dead.
              livenessProbe: { ...probe('/livez'), periodSeconds: 10, failureThreshold: 6 },
              readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
              securityContext: HARDENED.container,
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
            },
          ],
          volumes: [{ name: 'tmp', emptyDir: {} }],
        },
      },
    },
  }
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, labels },
    spec: { maxUnavailable: 1, selector },
  }
  const text = [deployment, budget].map(yamlText).join('---\n')
  const token = `# It also has the token for the API: --from-literal=read-token=$(openssl rand -hex 32)\n`
  return { text: token + text, findings: [], count: options.count }
}
