/** Events of a deployment. */
import type { EventData } from '../../contracts/events/schema.js';
import type { NewEvent } from './event.js';

export function deploymentBuilding(name: string): NewEvent<'deployment_building'> {
  return { key: 'building', type: 'deployment_building', message: `building ${name}`, data: { name } };
}

export function snapshotFrozen(snapshotId: string): NewEvent<'snapshot_frozen'> {
  return {
    key: 'frozen',
    type: 'snapshot_frozen',
    message: `snapshot ${snapshotId} frozen`,
    data: { snapshot_id: snapshotId },
  };
}

/** `evaluationId` is the job of the last evaluation that the gate compared. */
export function gateJudged(
  evaluationId: string,
  message: string,
  data: EventData<'gate_judged'>,
): NewEvent<'gate_judged'> {
  return { key: `gate:${evaluationId}`, type: 'gate_judged', message, data };
}
