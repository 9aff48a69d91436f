/** Which version answers a request. */
import { shareOf } from '../sampling.js';

/** A unit keeps its version in a step, and one that has the new version keeps it to the end. */
export function isOfCanary(canaryId: string, unit: string, percent: number): boolean {
  return shareOf(`${canaryId} ${unit}`) < percent / 100;
}
