/** The oldest item of the address that has the most, of items in the order in which they came. */
export function oldestOfBusiest<Item extends { readonly address: string }>(items: Iterable<Item>): Item | undefined {
  const counts = new Map<string, number>()
  for (const { address } of items) counts.set(address, (counts.get(address) ?? 0) + 1)
  const most = Math.max(...counts.values())
  for (const item of items) if (counts.get(item.address) === most) return item
  return undefined
}
