/** The page's own behavior: search, theme, and the menu of narrow screens. Without it everything can be read. */
type Entry = readonly [address: string, page: string, heading: string, anchor: string, text: string]

const MOST_RESULTS = 12
const THEMES = ['system', 'light', 'dark'] as const
const root = document.documentElement.dataset['root'] ?? '.'
const input = document.querySelector<HTMLInputElement>('#search')!
const results = document.querySelector<HTMLUListElement>('#results')!
const themeButton = document.querySelector<HTMLButtonElement>('#theme')!
const menu = document.querySelector<HTMLButtonElement>('#menu')!
const nav = document.querySelector<HTMLElement>('#nav')!
let entries: Promise<readonly Entry[]> | null = null

function load(): Promise<readonly Entry[]> {
  entries ??= fetch(`${root}/search.json`).then((response) => response.json() as Promise<readonly Entry[]>)
  return entries
}

/** All words must occur; where they occur decides the order. */
function score([, page, heading, , text]: Entry, words: readonly string[]): number {
  let sum = 0
  for (const word of words) {
    const points =
      (heading.toLowerCase().includes(word) ? 8 : 0) +
      (page.toLowerCase().includes(word) ? 4 : 0) +
      (text.toLowerCase().includes(word) ? 1 : 0)
    if (points === 0) return 0
    sum += points
  }
  return sum
}

async function search(): Promise<void> {
  const wanted = input.value.trim().toLowerCase()
  const words = wanted.split(/\s+/).filter((word) => word !== '')
  const found =
    words.length === 0
      ? []
      : (await load())
          .map((entry) => ({ entry, points: score(entry, words) }))
          .filter(({ points }) => points > 0)
          .toSorted((one, other) => other.points - one.points)
          .slice(0, MOST_RESULTS)
  if (input.value.trim().toLowerCase() !== wanted) return
  results.replaceChildren(...found.map(({ entry }) => item(entry, words[0]!)))
  if (words.length > 0 && found.length === 0)
    results.append(Object.assign(document.createElement('li'), { textContent: 'Nothing found.' }))
  results.hidden = words.length === 0
}

function item([address, page, heading, anchor, text]: Entry, word: string): HTMLLIElement {
  const link = document.createElement('a')
  link.href = `${root}/${address}#${anchor}`
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40)
  const title = Object.assign(document.createElement('b'), {
    textContent: page === heading ? page : `${page}: ${heading}`,
  })
  const excerpt = Object.assign(document.createElement('span'), { textContent: text.slice(at, at + 120) })
  link.append(title, excerpt)
  const line = document.createElement('li')
  line.append(link)
  return line
}

function showTheme(theme: string): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  themeButton.textContent = `Theme: ${theme}`
}

function stored(): (typeof THEMES)[number] {
  return THEMES.find((theme) => theme === localStorage.getItem('cronce-docs-theme')) ?? 'system'
}

input.addEventListener('input', () => void search())
input.addEventListener('focus', () => void load())
themeButton.addEventListener('click', () => {
  const next = THEMES[(THEMES.indexOf(stored()) + 1) % THEMES.length]!
  localStorage.setItem('cronce-docs-theme', next)
  showTheme(next)
})
menu.addEventListener('click', () => {
  const isOpen = nav.classList.toggle('open')
  menu.setAttribute('aria-expanded', String(isOpen))
})
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault()
    input.focus()
  }
  if (event.key === 'Escape') {
    results.hidden = true
    input.blur()
  }
  if (event.key === 'Enter' && document.activeElement === input) results.querySelector('a')?.click()
})
document.addEventListener('click', (event) => {
  if (!(event.target instanceof Node) || !results.parentElement!.contains(event.target)) results.hidden = true
})
showTheme(stored())
