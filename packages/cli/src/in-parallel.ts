/** Many questions, a few at a time, answers in the order of the questions. */
export async function inParallel<In, Out>(
  items: readonly In[],
  atATime: number,
  work: (item: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const answers = new Array<Out>(items.length)
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++
      answers[index] = await work(items[index]!, index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atATime, items.length) }, worker))
  return answers
}
