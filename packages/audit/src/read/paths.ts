/** Files that no deployment starts: tests, examples, installed packages. */
export function isAside(path: string): boolean {
  return /(?:^|\/)(?:tests?|__tests__|testing|examples?|samples?|fixtures|\.?venv|env\/lib|site-packages|node_modules|dist)\/|(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$/.test(
    path,
  )
}
