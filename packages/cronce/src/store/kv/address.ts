export interface User {
  readonly name: string
  readonly password: string
}

export interface ClusterAddress {
  /** Each with its port, if it has one. */
  readonly hosts: readonly string[]
  readonly isSecure: boolean
  readonly user: User | null
}

/**
 * `scheme://[user:password@]host[:port][,host[:port]…]`, and with an `s` after the scheme for TLS. `null`: it is not one. An error
 * about it must repeat nothing of it: it may hold a password.
 */
export function parseClusterUrl(scheme: string, url: string): ClusterAddress | null {
  const match = new RegExp(`^${scheme}(s?)://(?:([^/@]*)@)?([^/?#@]+)/?$`).exec(url)
  if (match === null) return null
  const [, secure, login, hosts] = match
  try {
    return { hosts: hosts!.split(','), isSecure: secure === 's', user: login === undefined ? null : userOf(login) }
  } catch {
    return null
  }
}

function userOf(login: string): User {
  const [name = '', ...password] = login.split(':')
  return { name: decodeURIComponent(name), password: decodeURIComponent(password.join(':')) }
}
