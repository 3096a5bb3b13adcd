import { readHttpUrl } from '../client/read-url.ts'
import type { AlertChannel } from '../watch/channel.ts'
import type { AlertMessage } from '../watch/message.ts'
import { type ChannelOptions, post, readChannelOptions } from './post.ts'

/** Options of `slack()`. */
export interface SlackOptions extends ChannelOptions {
  /** Of an incoming webhook: it is a secret. */
  readonly url: string | undefined
}

/**
 * A channel of Slack, by an incoming webhook.
 *
 * @example
 * cronce({ store, alerts: { channels: [slack({ url: process.env.SLACK_URL })] } })
 */
export function slack(options: SlackOptions): AlertChannel {
  const { url, name = 'slack', filter } = readChannelOptions('slack', options, ['url'])
  const address = readHttpUrl('slack.url', url, "Write slack({ url: 'https://hooks.slack.com/services/…' }).")
  return {
    name,
    filter,
    send: (message, { signal }) => post(address, { body: JSON.stringify({ text: textOf(message) }) }, signal),
  }
}

function textOf({ state, title, text, command, url }: AlertMessage): string {
  const mark = state === 'firing' ? ':red_circle:' : ':large_green_circle:'
  const link = url === null ? '' : `\n${escaped(url)}`
  // Nothing stands for a backtick within code.
  const code = command.includes('`') ? escaped(command) : `\`${escaped(command)}\``
  return `${mark} *${escaped(title)}*\n${escaped(text)}\n${code}${link}`
}

/** The three characters that mean something to Slack. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
