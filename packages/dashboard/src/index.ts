/** The published entry `@cronce/dashboard`. */
export { createDashboard, type DashboardOptions } from './create-dashboard.ts'
export type { Environment } from './page.ts'
