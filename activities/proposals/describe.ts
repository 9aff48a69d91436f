import type { SessionSpec } from '../../src/core/jobs/spec.js';
import { proposalTries } from '../../src/core/proposals/limits.js';
import { buildDescription, maxDescription } from '../../src/core/proposals/reflection.js';
import type { Texts } from '../../src/core/proposals/components.js';
import type { Tx } from '../../src/storage/db/db.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { findProposerCall } from '../../src/storage/candidates/proposals.js';
import { readExamples } from '../../src/storage/candidates/reflection-examples.js';
import type { ActivityDeps } from '../deps.js';
import { proposeOne } from './one.js';

/** Where the proposer's description of the task is recorded: among the calls for candidates, with the number of none. */
const index = { candidate: -1, part: 0 };

/**
 * Has the proposer describe the task from rollouts, once. Where it gives no usable answer instructions are written without: a
 * proposer that never works fails the session by those.
 */
export async function describeTask(
  deps: ActivityDeps,
  job: JobRef,
  spec: SessionSpec,
  { prompt, ordinals }: { prompt: Texts; ordinals: readonly number[] },
  signal: AbortSignal,
): Promise<void> {
  const examples = await deps.db.org(job.orgId, (tx) => readExamples(tx, job.jobId, ordinals));
  const question = buildDescription(prompt, examples);
  const described = await proposeOne(deps, job, spec, { ...index, question, read: readText }, signal);
  if (!described.ok) deps.log.warn({ job_id: job.jobId, reason: described.reason }, 'the task was not described');
}

/** What the proposer said of the task, or null: it was not asked, or said nothing usable. */
export async function readDescription(tx: Tx, job: JobRef): Promise<string | null> {
  // The last of its answers, for those before it were not usable.
  for (let occurrence = proposalTries - 1; occurrence >= 0; occurrence -= 1) {
    const answer = await findProposerCall(tx, { ...job, candidate: index.candidate, occurrence });
    const read = answer && readText(answer);
    if (read?.ok) return read.text;
  }
  return null;
}

function readText({ text }: { text: string }) {
  const said = text.replaceAll('\0', '').trim().slice(0, maxDescription);
  return said === '' ? { ok: false as const, reason: 'the answer is empty' } : { ok: true as const, text: said };
}
