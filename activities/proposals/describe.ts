import { splitThoughts } from '../../src/core/answers/thoughts.js';
import type { SessionSpec } from '../../src/core/jobs/spec.js';
import { proposalTries } from '../../src/core/proposals/limits.js';
import type { Question } from '../../src/core/question.js';
import { maxDescription } from '../../src/core/proposals/reflection.js';
import type { Texts } from '../../src/core/proposals/components.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { readRecordedAnswers } from '../../src/candidates/store/proposals.js';
import { readExamples } from '../../src/candidates/store/reflection-examples.js';
import type { ActivityDeps } from '../deps.js';
import { askProposer, type ProposerContext } from './ask-proposer.js';

/** The index of the description among the recorded proposer calls: no candidate has this number. */
const index = { candidate: -1, part: 0, component: null, isVaried: false };

/**
 * Asks the proposer once for a description of the task. Without an answer, instructions are
 * proposed without it; a proposer that never works fails the session through those.
 */
export async function describeTask(
  deps: ActivityDeps,
  job: JobRef,
  spec: SessionSpec,
  { prompt, ordinals }: { prompt: Texts; ordinals: readonly number[] },
  { trace, signal }: Pick<ProposerContext, 'trace' | 'signal'>,
): Promise<void> {
  const indexes = [{ candidate: index.candidate, occurrences: proposalTries }];
  const [examples, recorded] = await deps.db.org(job.orgId, (tx) =>
    Promise.all([readExamples(tx, job.jobId, ordinals), readRecordedAnswers(tx, job.jobId, indexes)]),
  );
  const question: Question = { kind: 'description', request: { prompt, examples } };
  const asked = { ...index, question, form: 'the description of the task', read: readText };
  const described = await askProposer({ deps, job, spec, recorded, trace, signal }, asked);
  if (!described.ok) deps.log.warn({ job_id: job.jobId, reason: described.reason }, 'task not described');
}

/** The proposer's description of the task; null: not asked for, or no usable answer. */
export async function readDescription(tx: Tx, job: JobRef): Promise<string | null> {
  const { candidate } = index;
  const recorded = await readRecordedAnswers(tx, job.jobId, [{ candidate, occurrences: proposalTries }]);
  // Only the last recorded answer can be usable.
  for (let occurrence = proposalTries - 1; occurrence >= 0; occurrence -= 1) {
    const answer = recorded.get(candidate, occurrence);
    const read = answer && readText(answer);
    if (read?.ok) return read.text;
  }
  return null;
}

function readText({ text }: { text: string }) {
  const description = splitThoughts(text).answer.replaceAll('\0', '').trim().slice(0, maxDescription);
  return description === ''
    ? { ok: false as const, reason: 'the answer is empty' }
    : { ok: true as const, text: description };
}
