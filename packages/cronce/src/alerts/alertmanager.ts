import { isRecord, optionInvalid } from '../client/read-option.ts'
import type { AlertChannel } from '../watch/channel.ts'
import type { AlertMessage } from '../watch/message.ts'
import { readHttpUrl } from '../watch/read-watch.ts'
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

/** Prometheus Alertmanager, by its API v2. */
export function alertmanager(options: AlertmanagerOptions): AlertChannel {
  const given = readChannelOptions('alertmanager', options, ['url', 'headers'])
  const { url, headers, name = 'alertmanager', filter } = given
  const address = `${readHttpUrl('alertmanager.url', url).replace(/\/$/, '')}/api/v2/alerts`
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

function alertOf({ rule, severity, app, namespace, state, firstAt, title, text, command, url }: AlertMessage): object {
  const endsAt = state === 'resolved' ? Date.now() : Date.now() + LASTS_MS
  return {
    labels: { alertname: `cronce_${rule.replaceAll('-', '_')}`, severity, app, namespace },
    annotations: { summary: title, description: text, command },
    startsAt: new Date(firstAt).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
    ...(url === null ? {} : { generatorURL: url }),
  }
}
