import type { FastifyRequest } from 'fastify';
import type { CandidateChoice } from '../../kinds/evaluation/contract/evaluation.js';
import type { Demo } from '../../core/prompts/demos.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import { isTerminal } from '../../core/jobs/status.js';
import type { EvaluationSpec } from '../../core/jobs/spec.js';
import type { Message } from '../../core/prompts/message.js';
import type { Tx } from '../../platform/db/db.js';
import { readJob, type GraphHead, type SessionHead } from '../../jobs/store/jobs.js';
import { readPrompt } from '../store/reads.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { ApiError, pointerOf, refuse } from '../../platform/http/server/errors.js';

/** The prompt that an evaluation runs with, as messages; null: the container's own. */
export async function resolveCandidate(
  deps: HttpDeps,
  request: FastifyRequest,
  choice: CandidateChoice | undefined,
  path: string[],
): Promise<EvaluationSpec['candidate']> {
  if (!choice) return null;
  if (choice.messages) return { messages: choice.messages, sessionId: null, candidateId: null };
  const sessionId = choice.session_id!;
  return deps.db.org(request.caller.orgId, async (tx) => {
    const asked = { kind: 'session' as const, field: 'session_id', jobId: sessionId, candidateId: choice.candidate_id };
    const { job, candidateId, unknown } = await chosenCandidate(tx, asked, [...path, 'candidate']);
    const { messages, demos } = await knownPrompt(tx, sessionId, candidateId, unknown);
    const { leversMarked } = job.projection;
    return {
      messages,
      ...(demos.length > 0 && { demos }),
      sessionId,
      candidateId,
      ...(leversMarked && { marked: true }),
    };
  });
}

/** A candidate that a request names; default: the job's best. `field` names the job in the body. */
export interface CandidateReference {
  kind: 'session' | 'graph';
  field: string;
  jobId: string;
  candidateId: string | undefined;
}

/** The job and the id of the candidate, which may not exist: then throw `unknown()`. */
export async function chosenCandidate(tx: Tx, { kind, field, ...asked }: CandidateReference, path: readonly string[]) {
  const refused = (name: string, message: string) =>
    refuse.invalid([{ pointer: pointerOf([...path, name]), message }], 'candidate_not_found');
  const { jobId } = asked;
  const { noun } = jobKinds[kind];
  const job = await readJob<SessionHead | GraphHead>(tx, jobId);
  if (job?.kind !== kind) throw refused(field, `must be the id of a ${noun} of this organization`);
  const candidateId = asked.candidateId ?? job.projection.bestCandidateId;
  if (!candidateId) {
    const ended = isTerminal(job.status) ? ` is ${job.status} and` : null;
    throw notReady(
      ended === null
        ? `The ${noun} ${jobId} has no evaluated candidate yet. Wait for its baseline.`
        : `The ${noun} ${jobId}${ended} has no evaluated candidate. Choose another ${noun}.`,
    );
  }
  return { job, candidateId, unknown: () => refused('candidate_id', `must be a candidate of the ${noun}`) };
}

/** A candidate's prompt. Throws if the candidate does not exist or its prompt is not known yet. */
export async function knownPrompt(
  tx: Tx,
  jobId: string,
  candidateId: string,
  unknown: () => ApiError,
): Promise<{ messages: Message[]; demos: Demo[] }> {
  const prompt = await readPrompt(tx, jobId, candidateId);
  if (!prompt) throw unknown();
  const { messages, demos } = prompt;
  if (!messages) throw notReady(`The prompt of ${candidateId} is not known yet. Wait for the session's baseline.`);
  return { messages, demos };
}

function notReady(detail: string): ApiError {
  return new ApiError(409, 'candidate_not_ready', detail);
}
