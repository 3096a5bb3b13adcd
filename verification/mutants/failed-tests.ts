import type { TestEvent } from 'node:test/reporters'

/** A reporter for programs: the name of each test that failed, one in a line, as JSON. */
// biome-ignore lint/style/noDefaultExport: that is how node finds a reporter
export default async function* failedTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) if (type === 'test:fail') yield `${JSON.stringify(data.name)}\n`
}
