import { ACCESS_ROUTES } from './access.ts'
import { ALERT_ROUTES } from './alerts.ts'
import { FIRE_ROUTES } from './fires.ts'
import { FLEET_ROUTES } from './fleet.ts'
import { METRICS_ROUTES } from './metrics.ts'
import { PROBE_ROUTES } from './probes.ts'
import type { Route } from './route.ts'
import { SCHEDULE_ROUTES } from './schedules.ts'
import { SERVICE_ROUTES } from './service.ts'
import { SUMMARY_ROUTES } from './summaries.ts'

/** Every route there is. The router, the access check and the OpenAPI document are made of it, so none knows one that another does not. */
export const ROUTES: readonly Route[] = [
  ...PROBE_ROUTES,
  ...METRICS_ROUTES,
  ...SCHEDULE_ROUTES,
  ...FIRE_ROUTES,
  ...FLEET_ROUTES,
  ...ALERT_ROUTES,
  ...SUMMARY_ROUTES,
  ...ACCESS_ROUTES,
  ...SERVICE_ROUTES,
]
