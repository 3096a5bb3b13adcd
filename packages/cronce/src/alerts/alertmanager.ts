import { isRecord, optionInvalid } from '../client/read-option.ts'
import { readHttpUrl } from '../client/read-url.ts'
import type { AlertChannel } from '../watch/channel.ts'
import type { AlertMessage } from '../watch/message.ts'
import { type ChannelOptions, post, readChannelOptions } from './post.ts'

/** Options of `alertmanager()`. */
export interface AlertmanagerOptions extends ChannelOptions {
  /** Where it is, without the path of its API: `http://alertmanager:9093`. */
  readonly url: string | undefined
  /** Of every request, as for a proxy that wants a token. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A firing alert is sent again every few hours; without this, Alertmanager would take it for resolved after minutes. */
const LASTS_MS = 30 * 86_400_000
const TEST_LASTS_MS = 5 * 60_000

/** Prometheus Alertmanager, by its API v2. */
export function alertmanager(options: AlertmanagerOptions): AlertChannel {
  const given = readChannelOptions('alertmanager', options, ['url', 'headers'])
  const { url, headers, name = 'alertmanager', filter } = given
  const address = `${readHttpUrl('alertmanager.url', url, "Write alertmanager({ url: 'http://alertmanager:9093' }).").replace(/\/$/, '')}/api/v2/alerts`
  const sent = readHeaders(headers)
  return {
    name,
    filter,
    send: (message, { signal }) => post(address, { body: JSON.stringify([alertOf(message)]), headers: sent }, signal),
  }
}

function readHeaders(headers: unknown): Readonly<Record<string, string>> | undefined {
  if (headers === undefined) return undefined
  if (isRecord(headers) && Object.values(headers).every((value) => typeof value === 'string')) {
    return headers as Record<string, string>
  }
  throw optionInvalid('alertmanager.headers', undefined, 'an object of texts', 'Write { authorization: token }.')
}

/** Never before it starts, which Alertmanager refuses: `firstAt` and `lastAt` go by the store's clock. */
function endOf({ kind, state, firstAt, lastAt }: AlertMessage): number {
  if (state === 'resolved') return Math.max(firstAt, lastAt)
  return Math.max(firstAt, Date.now()) + (kind === 'test' ? TEST_LASTS_MS : LASTS_MS)
}

function alertOf(message: AlertMessage): object {
  const { rule, severity, app, namespace, firstAt, title, text, command, url } = message
  return {
    labels: { alertname: `cronce_${rule.replaceAll('-', '_')}`, severity, app, namespace },
    annotations: { summary: title, description: text, command },
    startsAt: new Date(firstAt).toISOString(),
    endsAt: new Date(endOf(message)).toISOString(),
    ...(url === null ? {} : { generatorURL: url }),
  }
}
