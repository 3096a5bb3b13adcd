import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK } from './ports.ts'
import { type Server, type ServerPlan, startServer } from './server.ts'

export interface PrometheusOptions {
  /** The configuration, in YAML. */
  readonly config: string
}

/** A Prometheus that scrapes what its configuration names. */
export async function startPrometheus(options: PrometheusOptions, locate: Obtain = obtain): Promise<Server> {
  return startServer(prometheusPlan(options, await locate('prometheus')))
}

function prometheusPlan({ config }: PrometheusOptions, file: string): ServerPlan {
  const url = (port: number | undefined) => `http://${LOOPBACK}:${port}`
  return {
    name: 'prometheus',
    portCount: 1,
    endSignal: 'SIGKILL', // One process, files only: nothing to hand back to the system.
    restartSignal: 'SIGTERM',
    prepare: async ({ directory }) => writeFileSync(join(directory, 'prometheus.yml'), config),
    command: async ([port], directory) => {
      const flags = {
        'config.file': join(directory, 'prometheus.yml'),
        'storage.tsdb.path': join(directory, 'data'),
        'web.listen-address': `${LOOPBACK}:${port}`,
      }
      return { file, args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`) }
    },
    // Prometheus reports its flags, so another one on this port is not mistaken for ours.
    isReady: async ([port], directory) => {
      const ready = await answerOf(`${url(port)}/-/ready`)
      return ready !== null && ((await answerOf(`${url(port)}/api/v1/status/flags`)) ?? '').includes(directory)
    },
    url,
  }
}

/** An Alertmanager that sends each alert to this address as soon as it can. */
export async function startAlertmanager(webhook: string, locate: Obtain = obtain): Promise<Server> {
  return startServer(alertmanagerPlan(webhook, await locate('alertmanager')))
}

function alertmanagerPlan(webhook: string, file: string): ServerPlan {
  const url = (port: number | undefined) => `http://${LOOPBACK}:${port}`
  // It reports its configuration, whose folder proves that it is ours.
  const config = (directory: string) => `
templates: ['${directory}/*.none']
route: { receiver: here, group_by: ['...'], group_wait: 100ms, group_interval: 1s, repeat_interval: 1h }
receivers: [{ name: here, webhook_configs: [{ url: '${webhook}', send_resolved: true }] }]
`
  return {
    name: 'alertmanager',
    portCount: 1,
    endSignal: 'SIGKILL', // One process, files only: nothing to hand back to the system.
    restartSignal: 'SIGTERM',
    prepare: async ({ directory }) => writeFileSync(join(directory, 'alertmanager.yml'), config(directory)),
    command: async ([port], directory) => {
      const flags = {
        'config.file': join(directory, 'alertmanager.yml'),
        'storage.path': join(directory, 'data'),
        'web.listen-address': `${LOOPBACK}:${port}`,
        'cluster.listen-address': '',
      }
      return { file, args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`) }
    },
    isReady: async ([port], directory) => ((await answerOf(`${url(port)}/api/v2/status`)) ?? '').includes(directory),
    url,
  }
}

/** The body of a good answer, else `null`. */
async function answerOf(url: string): Promise<string | null> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    return answer.ok ? await answer.text() : null
  } catch {
    return null
  }
}
