import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { findChromium } from '../../../scripts/servers/obtain.ts'

/** Looks until it is so, for two minutes at most: a busy machine is slow, not wrong. */
const TRIES = 2_400
const PAUSE_MS = 50
/** Text stays sharp. */
const WEBP_QUALITY = 88

type Parameters = Readonly<Record<string, unknown>>
type Message = {
  id?: number
  sessionId?: string
  method?: string
  params?: never
  result?: unknown
  error?: { message: string }
}

export interface TabShape {
  readonly width?: number
  readonly height?: number
  readonly isDark?: boolean
}

/** A Chromium without a window, driven over the DevTools protocol. */
export interface Browser {
  open(shape?: TabShape): Promise<Tab>
  close(): Promise<void>
}

export interface Tab {
  goto(url: string): Promise<void>
  /** The value of an expression in the page. */
  evaluate<Value>(expression: string): Promise<Value>
  /** Waits until the expression is true, and answers its value. */
  until<Value>(expression: string): Promise<Value>
  /** All text that is shown. */
  text(): Promise<string>
  untilText(text: string): Promise<void>
  click(selector: string): Promise<void>
  type(text: string): Promise<void>
  /** `j`, `Enter`, `Meta+k`. */
  press(key: string): Promise<void>
  resize(width: number, height: number): Promise<void>
  screenshot(file: string): Promise<void>
  /** Puts another tab in front of this one, until the answer is called. */
  hide(): Promise<() => Promise<void>>
  /** The button of this text within the selector. */
  clickText(selector: string, text: string): Promise<void>
  /** Bytes of the JavaScript heap after a collection. */
  heapBytes(): Promise<number>
  /** Console errors, exceptions, violations of the content security policy. */
  readonly problems: readonly string[]
  /** Every URL that the page has asked for. */
  readonly requests: readonly string[]
  close(): Promise<void>
}

export async function launchBrowser(): Promise<Browser> {
  const file = await findChromium()
  const profile = mkdtempSync(join(tmpdir(), 'cronce-chromium-'))
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--lang=en-US',
    '--hide-scrollbars',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-extensions',
    '--disable-sync',
    '--no-first-run',
    '--mute-audio',
  ]
  const program = spawn(file, [...flags, `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LANG: 'en_US.UTF-8', TZ: 'Europe/Berlin' },
  })
  const protocol = await connect(await addressOf(program))
  return {
    open: (options) => openTab(protocol, options),
    async close() {
      protocol.close()
      const ended = once(program, 'exit')
      program.kill('SIGKILL')
      await ended
      // Its helpers end a moment later, and may still write.
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

async function addressOf(program: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: program.stderr! })) {
    const [, address] = /DevTools listening on (ws:\S+)/.exec(line) ?? []
    if (address !== undefined) {
      program.stderr!.resume()
      return address
    }
  }
  throw new Error('Chromium ended before it listened.')
}

interface Protocol {
  send<Result>(method: string, params?: Parameters, session?: string): Promise<Result>
  listen(session: string, listener: (method: string, params: never) => void): void
  close(): void
}

async function connect(address: string): Promise<Protocol> {
  const socket = new WebSocket(address)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const listeners = new Map<string, (method: string, params: never) => void>()
  let count = 0
  socket.addEventListener('message', ({ data }) => {
    const { id, sessionId, method, params, result, error } = JSON.parse(String(data)) as Message
    if (method !== undefined) return listeners.get(sessionId ?? '')?.(method, params as never)
    const asked = waiting.get(id!)
    waiting.delete(id!)
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new Error(error.message))
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  return {
    send<Result>(method: string, params: Parameters = {}, sessionId?: string) {
      const asked = Promise.withResolvers<unknown>()
      waiting.set(++count, asked)
      socket.send(JSON.stringify({ id: count, method, params, sessionId }))
      return asked.promise as Promise<Result>
    },
    listen: (session, listener) => void listeners.set(session, listener),
    close: () => socket.close(),
  }
}

async function openTab(
  protocol: Protocol,
  { width = 1_280, height = 900, isDark = false }: TabShape = {},
): Promise<Tab> {
  const { browserContextId } = await protocol.send<{ browserContextId: string }>('Target.createBrowserContext')
  const { targetId } = await protocol.send<{ targetId: string }>('Target.createTarget', {
    url: 'about:blank',
    browserContextId,
  })
  const { sessionId } = await protocol.send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
  const send = <Result>(method: string, params: Parameters = {}): Promise<Result> =>
    protocol.send(method, params, sessionId)
  const problems: string[] = []
  const requests: string[] = []
  protocol.listen(sessionId, (method, params) => note(method, params, problems, requests))
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`)
  const features = [
    { name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' },
    // Without it, a dot that pulses makes the browser draw sixty times a second.
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]
  await send('Emulation.setEmulatedMedia', { features })
  const resize = async (wide: number, high: number): Promise<void> => {
    await send('Emulation.setDeviceMetricsOverride', {
      width: wide,
      height: high,
      deviceScaleFactor: 1,
      mobile: wide < 500,
    })
  }
  await resize(width, height)
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result, exceptionDetails } = await send<Evaluated>('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })
    if (exceptionDetails === undefined) return result.value as Value
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  }
  const until = async <Value>(expression: string): Promise<Value> => {
    for (let tries = 0; tries < TRIES; tries++) {
      const value = await evaluate<Value>(expression).catch(() => null)
      if (value) return value as Value
      await sleep(PAUSE_MS)
    }
    throw new Error(
      `It did not come to ${expression}. The page shows:\n${await evaluate('document.body.innerText')}\n${problems.join('\n')}`,
    )
  }
  /** Found and clicked in one expression: the page may draw anew between two. */
  const clickFound = async (found: string): Promise<void> => {
    await until(`(() => {
      const element = ${found}
      if (!element || element.disabled) return false
      element.click()
      return true
    })()`)
  }
  return {
    problems,
    requests,
    evaluate,
    until,
    resize,
    goto: async (url) => {
      await send('Page.navigate', { url })
      await until('document.readyState === "complete"')
    },
    text: () => evaluate('document.body.innerText'),
    untilText: async (text) => void (await until(`document.body.innerText.includes(${JSON.stringify(text)})`)),
    click: async (selector) => {
      await clickFound(`document.querySelector(${JSON.stringify(selector)})`)
    },
    clickText: async (selector, text) => {
      const isMeant = `!one.disabled && one.textContent.trim().startsWith(${JSON.stringify(text)})`
      await clickFound(`[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => ${isMeant})`)
    },
    hide: async () => {
      const other = await protocol.send<{ targetId: string }>('Target.createTarget', {
        url: 'about:blank',
        browserContextId,
      })
      await protocol.send('Target.activateTarget', { targetId: other.targetId })
      return async () => {
        await protocol.send('Target.closeTarget', { targetId: other.targetId })
        await protocol.send('Target.activateTarget', { targetId })
      }
    },
    heapBytes: async () => {
      await send('HeapProfiler.collectGarbage')
      return (await send<{ usedSize: number }>('Runtime.getHeapUsage')).usedSize
    },
    type: async (text) => void (await send('Input.insertText', { text })),
    press: (key) => press(send, key),
    screenshot: async (path) => {
      const format = path.endsWith('.webp') ? { format: 'webp', quality: WEBP_QUALITY } : { format: 'png' }
      const { data } = await send<{ data: string }>('Page.captureScreenshot', format)
      writeFileSync(path, Buffer.from(data, 'base64'))
    },
    close: async () => void (await protocol.send('Target.disposeBrowserContext', { browserContextId })),
  }
}

interface Evaluated {
  readonly result: { readonly value?: unknown }
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } }
}

interface Noted {
  readonly type?: string
  readonly args?: readonly { readonly value?: unknown; readonly description?: string }[]
  readonly entry?: { readonly level: string; readonly text: string; readonly url?: string }
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } }
  readonly request?: { readonly url: string }
}

function note(method: string, params: Noted, problems: string[], requests: string[]): void {
  if (method === 'Network.requestWillBeSent') requests.push(params.request!.url)
  if (method === 'Runtime.exceptionThrown')
    problems.push(params.exceptionDetails!.exception?.description ?? params.exceptionDetails!.text)
  if (method === 'Log.entryAdded' && params.entry!.level === 'error')
    problems.push(`${params.entry!.text} ${params.entry!.url ?? ''}`)
  if (method === 'Runtime.consoleAPICalled' && params.type === 'error')
    problems.push(params.args!.map(({ value, description }) => String(value ?? description)).join(' '))
}

const MODIFIERS: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 }

async function press(
  send: (method: string, params?: Parameters) => Promise<unknown>,
  combination: string,
): Promise<void> {
  const parts = combination.split('+')
  const key = parts.pop()!
  const modifiers = parts.reduce((sum, part) => sum + MODIFIERS[part]!, 0)
  const isText = key.length === 1 && modifiers === 0
  const text = isText ? { text: key } : key === 'Enter' ? { text: '\r' } : {}
  await send('Input.dispatchKeyEvent', { type: 'keyDown', key, modifiers, windowsVirtualKeyCode: codeOf(key), ...text })
  await send('Input.dispatchKeyEvent', { type: 'keyUp', key, modifiers })
}

function codeOf(key: string): number {
  const known: Readonly<Record<string, number>> = { Enter: 13, Escape: 27, Tab: 9, ArrowDown: 40, ArrowUp: 38 }
  return known[key] ?? key.toUpperCase().charCodeAt(0)
}
