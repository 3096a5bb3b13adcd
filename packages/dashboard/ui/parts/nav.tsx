import { link, place } from '../core/router.ts'
import { screens } from '../core/screens.ts'
import { Icon } from './icons.tsx'

export function Nav() {
  const [first = ''] = place.value.path
  return (
    <nav aria-label="Screens">
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
