/** One after the other: cores are few. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  measure: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const measured: Result[] = []
  for (const item of items) measured.push(await measure(item))
  return measured
}
