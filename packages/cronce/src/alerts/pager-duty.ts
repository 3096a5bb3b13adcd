import { invalid } from '../client/read-option.ts'
import { readHttpUrl } from '../client/read-url.ts'
import type { AlertChannel } from '../watch/channel.ts'
import type { AlertMessage } from '../watch/message.ts'
import { type ChannelOptions, post, readChannelOptions } from './post.ts'

/** Options of `pagerDuty()`. */
export interface PagerDutyOptions extends ChannelOptions {
  /** The integration key of a service with Events API v2. */
  readonly routingKey: string | undefined
  /** @default 'https://events.pagerduty.com/v2/enqueue' */
  readonly url?: string | undefined
}

/** PagerDuty refuses longer ones; the end of it tells alerts apart. */
const MOST_KEY = 255
const EVENTS_URL = 'https://events.pagerduty.com/v2/enqueue'

/** PagerDuty, by its Events API v2. An alert is one incident there: messages about it have one deduplication key. */
export function pagerDuty(options: PagerDutyOptions): AlertChannel {
  const given = readChannelOptions('pagerDuty', options, ['routingKey', 'url'])
  const { routingKey, url = EVENTS_URL, name = 'pager-duty', filter } = given
  const address = readHttpUrl(
    'pagerDuty.url',
    url,
    "Leave it out, or write pagerDuty({ routingKey, url: 'https://events.eu.pagerduty.com/v2/enqueue' }).",
  )
  if (typeof routingKey !== 'string' || !/^[\w-]{1,100}$/.test(routingKey)) {
    // It is a secret: it is not repeated.
    throw invalid('pagerDuty.routingKey', undefined, 'the integration key of a service', 'process.env.PAGERDUTY_KEY')
  }
  return {
    name,
    filter,
    async send(message, { signal }) {
      await post(address, { body: JSON.stringify(eventOf(message, routingKey)) }, signal)
      if (message.kind !== 'test') return
      // Nothing else would close the incident of a test.
      const over = eventOf({ ...message, state: 'resolved' }, routingKey)
      await post(address, { body: JSON.stringify(over) }, signal)
    },
  }
}

function eventOf(message: AlertMessage, routingKey: string): object {
  const { state, alert, title, text, command, rule, app, severity, firstAt, count, subjects, url } = message
  return {
    routing_key: routingKey,
    event_action: state === 'firing' ? 'trigger' : 'resolve',
    dedup_key: alert.slice(-MOST_KEY),
    client: 'cronce',
    ...(url === null ? {} : { client_url: url, links: [{ href: url, text: 'Dashboard' }] }),
    payload: {
      summary: title.slice(0, 1_024),
      source: app,
      severity,
      timestamp: new Date(firstAt).toISOString(),
      class: rule,
      custom_details: { text, command, count, subjects: subjects.map(({ name }) => name) },
    },
  }
}
