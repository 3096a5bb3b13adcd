/** `npm run figures`: writes the text and the plots that are generated from docs/reports. Nothing is measured. */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commitsSince, isShallow } from './age.ts'
import { problemsOf, refresh } from './figures.ts'
import { fileOfPlot, renderPlot } from './plot.ts'
import { ROOT, readReports } from './report.ts'

export const PAGES = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT }).sort()]

/** Paths from a page to the folder docs. */
function folderFor(page: string): string {
  return page === 'README.md' ? 'docs/' : '../'.repeat(page.split('/').length - 2)
}

/** Pages and plots that differ from the reports, and reports that are too old. Ages are not judged in a shallow clone. */
export function figureProblems(): readonly string[] {
  const reports = readReports()
  const ageOf = isShallow() ? () => 0 : commitsSince
  const pages = PAGES.flatMap((file) =>
    problemsOf(file, readFileSync(join(ROOT, file), 'utf8'), reports, ageOf, folderFor(file)),
  )
  const plots = [...reports.values()].flatMap((report) =>
    report.plots
      .map((plot) => ({ file: join('docs', fileOfPlot(report.name, plot)), made: renderPlot(plot) }))
      .filter(({ file, made }) => !existsSync(join(ROOT, file)) || readFileSync(join(ROOT, file), 'utf8') !== made)
      .map(({ file }) => `${file} differs from the report ${report.name}. Run npm run figures.`),
  )
  return [...pages, ...plots]
}

export function writeFigures(): readonly string[] {
  const reports = readReports()
  const written: string[] = []
  const write = (file: string, made: string): void => {
    const path = join(ROOT, file)
    if (existsSync(path) && readFileSync(path, 'utf8') === made) return
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, made)
    written.push(file)
  }
  for (const report of reports.values()) {
    for (const plot of report.plots) write(join('docs', fileOfPlot(report.name, plot)), renderPlot(plot))
  }
  for (const file of PAGES) {
    write(file, refresh(readFileSync(join(ROOT, file), 'utf8'), reports, commitsSince, folderFor(file)))
  }
  return written
}

if (import.meta.main) {
  const written = writeFigures()
  console.log(written.length === 0 ? 'All figures are as the reports have them.' : `Written: ${written.join(', ')}`)
}
