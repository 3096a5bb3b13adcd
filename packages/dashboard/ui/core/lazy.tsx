import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** A screen whose code is loaded when it is opened first. */
export function lazy(load: () => Promise<ComponentType>): ComponentType {
  let known: ComponentType | null = null
  return function Lazy() {
    const [Screen, setScreen] = useState<ComponentType | null>(() => known)
    const [isBroken, setBroken] = useState(false)
    useEffect(() => {
      if (known !== null) return
      load().then(
        (loaded) => {
          known = loaded
          setScreen(() => loaded)
        },
        () => setBroken(true),
      )
    }, [])
    if (isBroken) return <p class="notice is-error">This part of the page could not be loaded. Reload the page.</p>
    return Screen === null ? <p class="loading">Loading…</p> : <Screen />
  }
}
