import { checkFleet } from './check-fleet.ts'
import { checkMachine } from './check-machine.ts'
import { checkSchedules } from './check-schedules.ts'
import { checkStore } from './check-store.ts'
import type { Facts } from './facts.ts'
import { CHECKS, type Finding } from './finding.ts'

/** All that there is to say, in the order of the checks. */
export function judge(facts: Facts): Finding[] {
  const found = [...checkMachine(facts), ...checkStore(facts), ...checkFleet(facts), ...checkSchedules(facts)]
  return found.sort((one, other) => CHECKS.indexOf(one.check) - CHECKS.indexOf(other.check))
}
