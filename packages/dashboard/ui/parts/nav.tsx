import { useEffect, useRef } from 'preact/hooks'
import { link, place } from '../core/router.ts'
import { screens } from '../core/screens.ts'
import { Icon } from './icons.tsx'

export function Nav() {
  const [first = ''] = place.value.path
  const own = useRef<HTMLElement>(null)
  // On a phone there is room for a few of them.
  useEffect(
    () => own.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }),
    [first],
  )
  return (
    <nav ref={own} aria-label="Screens">
      <ul>
        {screens().map(({ path, title, icon }) => (
          <li key={path}>
            <a href={link(path === '' ? [] : [path])} aria-current={path === first ? 'page' : undefined}>
              <Icon name={icon} />
              <span>{title}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
