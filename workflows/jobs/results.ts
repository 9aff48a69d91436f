/** Results of activities, which an operator may have completed by hand with anything. */
import type { ControlState, Finished, Rest, ShownSlice } from '../../activities/index.js';
import type { Labels } from '../../src/contracts/labels.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import type { AwaitedRewards } from '../../src/core/jobs/details.js';
import type { JobEnd, JobOutcome } from '../../src/core/jobs/outcome.js';
import type { JobFigures, JobProgress, JobSummary, ShownJob } from '../../src/core/jobs/progress.js';
import { isOneOf, ownField } from './fields.js';

const states = ['running', 'paused', 'completed', 'failed', 'cancelled'] as const;

/** The result of a slice of work; null: it is not one. */
export function readDriven(value: unknown): ShownSlice | null {
  const rest = readRest(ownField(value, 'rest'));
  if (!rest) return null;
  const state = readState(ownField(value, 'state'), ['running', 'paused']);
  return { rest, progress: readProgress(ownField(value, 'progress')), state, row: readRow(ownField(value, 'row')) };
}

/** What a decision came to; null: unknown. */
export function readRecorded(value: unknown): { kind: 'recorded' } | { kind: 'moved'; state: ControlState } | null {
  const kind = ownField(value, 'kind');
  if (kind === 'recorded') return { kind };
  const state = kind === 'moved' ? readState(ownField(value, 'state'), states) : null;
  return state && { kind: 'moved', state };
}

/** How a job ended; null: unknown. */
export function readFinished(value: unknown): Finished | null {
  const kind = ownField(value, 'kind');
  if (kind === 'unfinished') return { kind };
  const outcome = readOutcome(ownField(value, 'outcome'));
  const summary = readSummary(ownField(value, 'summary'));
  const labels = ownField(value, 'labels');
  const tags = readTags(ownField(labels, 'tags'));
  const metadata = readMetadata(ownField(labels, 'metadata'));
  if (kind !== 'ended' || !outcome || !summary || !tags || !metadata) return null;
  return { kind, outcome, summary, labels: { tags, metadata } };
}

/** A job as Temporal's lists show it; null: it is not one. */
export function readShown(value: unknown): ShownJob | null {
  const [name, rollouts, bestReward] = ['name', 'rollouts', 'bestReward'].map((field) => ownField(value, field));
  const tags = readTags(ownField(value, 'tags'));
  if (!tags || !isTextOrNull(name) || !isCount(rollouts) || !isNumberOrNull(bestReward)) return null;
  return { name, tags, rollouts, bestReward };
}

function readRow(value: unknown): ShownSlice['row'] {
  const shown = readShown(ownField(value, 'shown'));
  return shown && { shown, rewards: readAwaited(ownField(value, 'rewards')) };
}

function readAwaited(value: unknown): AwaitedRewards | null {
  const [rollouts, since] = [ownField(value, 'rollouts'), ownField(value, 'since')];
  return isCount(rollouts) && typeof since === 'string' ? { rollouts, since } : null;
}

function readTags(value: unknown): string[] | null {
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string') ? value : null;
}

function readMetadata(value: unknown): Labels['metadata'] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const isValue = (field: unknown) => ['string', 'number', 'boolean'].includes(typeof field);
  return Object.values(value).every(isValue) ? { ...value } : null;
}

function readOutcome(value: unknown): JobOutcome | null {
  const [status, stoppedBy] = [ownField(value, 'status'), ownField(value, 'stoppedBy')];
  const error = ownField(value, 'error');
  if (!isOneOf(status, ['completed', 'failed', 'cancelled']) || typeof stoppedBy !== 'string') return null;
  return { status, stoppedBy, error: readFault(error) };
}

function readSummary(value: unknown): JobSummary | null {
  const [name, verdict] = [ownField(value, 'name'), ownField(value, 'verdict')];
  const [bestReward, rollouts, costUsd] = ['bestReward', 'rollouts', 'costUsd'].map((field) => ownField(value, field));
  if (!isTextOrNull(name) || !isCount(rollouts) || !isNumberOrNull(bestReward) || !isNumberOrNull(costUsd)) return null;
  const isVerdict = verdict === null || isOneOf(verdict, ['better', 'worse', 'inconclusive']);
  return isVerdict ? { name, verdict, bestReward, rollouts, costUsd } : null;
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

function readState(value: unknown, known: readonly ControlState['status'][]): ControlState | null {
  const [status, pauses] = [ownField(value, 'status'), ownField(value, 'pauses')];
  return isOneOf(status, known) && isNumber(pauses) ? { status, pauses } : null;
}

/** How far a job is; null: it is not said. */
export function readProgress(value: unknown): JobProgress | null {
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
  if (!isNumberOrNull(bestReward)) return null;
  if (maxRollouts !== null && !isCount(maxRollouts)) return null;
  if (!isTextOrNull(bestCandidate)) return null;
  return { generation, totalGenerations, bestCandidate, bestReward, rolloutsCompleted, maxRollouts };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || isNumber(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
