import type { z } from 'zod';
import { sensorKinds, type sensorFields, type sensorFrameSchema } from '../contract/sensors.js';
import { frameId } from '../../../core/jobs/ids.js';
import type { Tx } from '../../../platform/db/db.js';
import type { JobRow, SessionHead } from '../../../jobs/store/jobs.js';
import { readComponentLevers, versionsOf, type ComponentLevers } from '../../../candidates/store/levers.js';
import { readLatestFrames, type FrameRow } from '../../../rollouts/store/sensors.js';
import { iso } from '../../../jobs/routes/view.js';
import { selectedCandidate } from './levers-view.js';

/** Number of latest frames in a session's state and results. */
const shownFrames = 50;

/** Latest frames of `count`, and the component levers of their candidates and the selected one. */
export interface Telemetry {
  frames: FrameRow[];
  count: number;
  levers: ComponentLevers;
}

export async function readTelemetry(tx: Tx, job: JobRow<SessionHead>): Promise<Telemetry> {
  const latest = await readLatestFrames(tx, job.jobId, shownFrames);
  const candidates = new Set([selectedCandidate(job), ...latest.frames.map(({ candidateId }) => candidateId)]);
  return { ...latest, levers: await readComponentLevers(tx, job.jobId, [...candidates]) };
}

/** Sensor fields of a session. */
export function sensorView(
  jobId: string,
  { frames, count, levers }: Telemetry,
): { [Field in keyof typeof sensorFields]: z.output<(typeof sensorFields)[Field]> } {
  return { sensor_frames: frames.map((row) => frameView(jobId, row, levers)), sensor_frame_count: count };
}

/** A frame as every response shows it. */
export function frameView(jobId: string, row: FrameRow, levers: ComponentLevers): z.output<typeof sensorFrameSchema> {
  const { candidateId, stage, generation, rollout, reward, resource } = row;
  const sensors = { rollout, reward, resource };
  const kinds = sensorKinds.filter((kind) => sensors[kind] !== null);
  return {
    frame_id: frameId(jobId, row.ordinal),
    created_at: iso(row.createdAt),
    candidate_id: candidateId,
    stage,
    generation,
    sensor_count: kinds.length,
    sensor_kinds: kinds,
    trace_ids: row.traceIds,
    lever_versions: versionsOf(jobId, { candidateId, version: row.leverVersion }, levers),
    sensors,
  };
}
