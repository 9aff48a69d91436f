/** Results of activities, which an operator may have completed by hand with anything. */
import type { ControlState, DriveResult, PreparedJob, Rest } from '../../activities/index.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import type { JobEnd } from '../../src/core/jobs/outcome.js';
import type { JobFigures, JobProgress } from '../../src/core/jobs/progress.js';
import { isOneOf, ownField } from './fields.js';

/** The result of a slice of work; null: it is not one. */
export function readDriven(value: unknown): DriveResult | null {
  const rest = readRest(ownField(value, 'rest'));
  if (!rest) return null;
  return { rest, progress: readProgress(ownField(value, 'progress')), state: readState(ownField(value, 'state')) };
}

/** What the preparation of a job came to; null: it is not one. */
export function readPrepared(value: unknown): PreparedJob | null {
  const leftMs = ownField(value, 'leftMs');
  const progress = readProgress(ownField(value, 'progress'));
  return progress && (leftMs === null || isNumber(leftMs)) ? { leftMs, progress } : null;
}

function readRest(value: unknown): Rest | null {
  const kind = ownField(value, 'kind');
  if (isOneOf(kind, ['again', 'unprepared', 'rewards'])) return { kind };
  if (kind === 'failed') {
    const fault = readFault(ownField(value, 'fault'));
    return fault && { kind, fault };
  }
  const end = kind === 'ended' ? readEnd(ownField(value, 'end')) : null;
  return end && { kind: 'ended', end };
}

/** Work ends completed or failed; all other ends are decided by the workflow. */
function readEnd(value: unknown): JobEnd | null {
  const kind = ownField(value, 'kind');
  if (kind === 'completed') {
    const stoppedBy = ownField(value, 'stoppedBy');
    return typeof stoppedBy === 'string' && stoppedBy !== 'reward_stop' ? { kind, stoppedBy } : null;
  }
  const fault = kind === 'failed' ? readFault(ownField(value, 'fault')) : null;
  return fault && { kind: 'failed', fault };
}

function readFault(value: unknown): JobFault | null {
  const [code, message, retryable] = ['code', 'message', 'retryable'].map((name) => ownField(value, name));
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return { code, message, retryable: retryable === true };
}

function readState(value: unknown): ControlState | null {
  const [status, pauses] = [ownField(value, 'status'), ownField(value, 'pauses')];
  return isOneOf(status, ['running', 'paused']) && isNumber(pauses) ? { status, pauses } : null;
}

function readProgress(value: unknown): JobProgress | null {
  const [details, next, takes] = ['details', 'next', 'takes'].map((name) => ownField(value, name));
  const figures = readFigures(ownField(value, 'figures'));
  if (!figures || typeof details !== 'string' || typeof next !== 'string' || !Array.isArray(takes)) return null;
  return { figures, details, next, takes: takes.filter((kind) => isOneOf(kind, ['candidate', 'hint'])) };
}

function readFigures(value: unknown): JobFigures | null {
  const [generation, totalGenerations, rolloutsCompleted] = ['generation', 'totalGenerations', 'rolloutsCompleted'].map(
    (name) => ownField(value, name),
  );
  const [bestReward, maxRollouts] = ['bestReward', 'maxRollouts'].map((name) => ownField(value, name));
  const bestCandidate = ownField(value, 'bestCandidate');
  if (!isCount(generation) || !isCount(totalGenerations) || !isCount(rolloutsCompleted)) return null;
  if (bestReward !== null && !isNumber(bestReward)) return null;
  if (maxRollouts !== null && !isCount(maxRollouts)) return null;
  if (bestCandidate !== null && typeof bestCandidate !== 'string') return null;
  return { generation, totalGenerations, bestCandidate, bestReward, rolloutsCompleted, maxRollouts };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
