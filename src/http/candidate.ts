import type { FastifyRequest } from 'fastify';
import type { CandidateChoice } from '../contracts/evaluation.js';
import type { EvaluationSpec } from '../contracts/spec.js';
import { readJob, type SessionHead } from '../storage/jobs.js';
import { readPrompt } from '../storage/reads.js';
import type { HttpDeps } from './deps.js';
import { ApiError, pointerOf, refuse } from './errors.js';

/** Which prompt an evaluation runs with, as messages; null: the container as it is. */
export async function resolveCandidate(
  deps: HttpDeps,
  request: FastifyRequest,
  choice: CandidateChoice | undefined,
  path: string[],
): Promise<EvaluationSpec['candidate']> {
  if (!choice) return null;
  if (choice.messages) return { messages: choice.messages, sessionId: null, candidateId: null };
  const sessionId = choice.session_id!;
  const unknown = (field: string, message: string) =>
    refuse.invalid([{ pointer: pointerOf([...path, 'candidate', field]), message }], 'candidate_not_found');
  return deps.db.org(request.caller.orgId, async (tx) => {
    const session = await readJob<SessionHead>(tx, sessionId);
    if (session?.kind !== 'session') throw unknown('session_id', 'is no session that this key may see');
    const candidateId = choice.candidate_id ?? session.projection.bestCandidateId;
    if (!candidateId) throw notReady(`The session ${sessionId} has no evaluated candidate yet; wait for its baseline.`);
    const prompt = await readPrompt(tx, sessionId, candidateId);
    if (!prompt) throw unknown('candidate_id', 'is no candidate of that session');
    if (!prompt.messages)
      throw notReady(`The prompt of ${candidateId} is not known yet; wait for the session's baseline.`);
    const { leversMarked } = session.projection;
    const { messages, demos } = prompt;
    return {
      messages,
      ...(demos.length > 0 && { demos }),
      sessionId,
      candidateId,
      ...(leversMarked && { marked: true }),
    };
  });
}

function notReady(detail: string): ApiError {
  return new ApiError(409, 'candidate_not_ready', detail);
}
