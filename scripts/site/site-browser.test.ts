import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { launchBrowser } from '../../packages/dashboard/test/browser.ts'
import { buildSite } from './build.ts'
import { serve } from './serve.ts'

test('every page can be read in a browser, on a phone, too, and loads nothing from elsewhere', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-site-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const { pages } = await buildSite(folder)
  const { url, server } = await serve(folder)
  context.after(() => server.close())
  const browser = await launchBrowser()
  context.after(() => browser.close())
  const tab = await browser.open({ width: 360, height: 740 })
  const wide: string[] = []
  for (const { address } of pages) {
    await tab.goto(url + address)
    await tab.until('document.querySelector("#theme").textContent.startsWith("Theme:")')
    if (await tab.evaluate('document.documentElement.scrollWidth > innerWidth')) wide.push(address)
  }
  assert.deepEqual(wide, [], 'no page is wider than a phone')
  assert.deepEqual(tab.problems, [], 'no error, no violation of the content security policy')
  assert.deepEqual(
    tab.requests.filter((request) => !request.startsWith(url)),
    [],
  )
  // From here on, one reader.
  await tab.resize(1280, 800)
  await tab.goto(`${url}index.html`)
  await tab.press('/')
  await tab.type('fencing token')
  await tab.until('document.querySelectorAll("#results a").length > 3')
  await tab.press('Enter')
  await tab.until('location.hash !== ""')
  await tab.click('#theme')
  await tab.click('#theme')
  assert.equal(await tab.evaluate('document.documentElement.dataset.theme'), 'dark')
})
